package runstatus_test

import (
	"strings"
	"testing"
	"time"

	"github.com/lockstep-iac/lockstep/engine/plans/counting"
	"github.com/lockstep-iac/lockstep/functions/comment"
	"github.com/lockstep-iac/lockstep/functions/comment/rulings"
	"github.com/lockstep-iac/lockstep/functions/pipeline"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/ledger"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/memory"
	"github.com/lockstep-iac/lockstep/functions/pipeline/runs"
	"github.com/lockstep-iac/lockstep/functions/pipeline/runstatus"
	"github.com/lockstep-iac/lockstep/github"
)

// TestProject is a table of records, and of the words on the page.
func TestProject(t *testing.T) {
	t.Parallel()
	repo := github.Repo{ID: 4, Owner: "acme", Name: "infra"}
	run := func(number int, phase runs.Phase) runs.Run {
		return runs.Run{ID: runs.ID{Pull: pipeline.Pull{Repo: repo, Number: number}, Project: "net", Workspace: "default"}, Phase: phase, Spec: runs.Spec{Dir: "net", Head: "abc"}, Asked: runs.Asked{By: "bob", Try: 1}, Plan: runs.Plan{PlanSummary: comment.PlanSummary{Applyable: true, Counts: counting.Counts{Add: 1}}}}
	}
	type world struct {
		ledger.Ledger
		t *testing.T
	}
	must := func(w world, err error) {
		w.t.Helper()
		if err != nil {
			w.t.Fatal(err)
		}
	}
	decided := func(w world, r runs.Run, o rulings.Outcome) {
		block := rulings.Ruling{Rule: rulings.Requirement, At: "lockstep.hcl:3", Outcome: o}
		_, err := w.Records.Put(t.Context(), runs.CheckKey(r), pipeline.Encode(runs.CheckRecord{Key: r.Key(), Required: &rulings.Ruling{Rule: rulings.AllOf, Outcome: o, Of: []rulings.Ruling{block}}}), "")
		must(w, err)
	}
	for name, test := range map[string]struct {
		phase  runs.Phase
		before func(w world)
		want   comment.Standing
		says   []string
		never  string
	}{
		"a plan": {runs.Planned, func(world) {}, comment.Ready, []string{"ready to apply"}, "requires"},
		"an apply of another one": {runs.Planned, func(w world) {
			must(w, w.Remember(t.Context(), run(8, runs.Applied), runs.LastApply{Number: 8, By: "alice"}))
		},
			comment.Blocked, []string{"#8 was applied to `net` and is not merged yet"}, "To apply this plan"},
		"its own apply": {runs.Planned, func(w world) {
			must(w, w.Remember(t.Context(), run(7, runs.Applied), runs.LastApply{Number: 7, By: "alice"}))
		},
			comment.Ready, nil, "not merged yet"},
		"a lock": {runs.Planned, func(w world) {
			_, err := w.Reserve(t.Context(), run(8, runs.Planned), runs.Reservation{Number: 8, By: "carol", Reason: "the database moves"})
			must(w, err)
		}, comment.Blocked, []string{"Locked by #8: `carol` has locked the state", "the database moves"}, "To apply this plan"},
		"a requirement that is not met": {runs.Planned, func(w world) { decided(w, run(7, runs.Planned), rulings.Fails) },
			comment.Ready, []string{"**waiting** for a requirement", "the requirement at `lockstep.hcl:3`"}, ""},
		"one that is met": {runs.Planned, func(w world) { decided(w, run(7, runs.Planned), rulings.Holds) },
			comment.Ready, []string{"To apply this plan"}, "**waiting**"},
		"one of a former head": {runs.Planned, func(w world) {
			former := run(7, runs.Planned)
			former.Spec.Head = "old"
			decided(w, former, rulings.Fails)
		}, comment.Ready, nil, "lockstep.hcl:3"},
		"a plan of a former head":   {runs.Planned, func(w world) {}, comment.Superseded, []string{"superseded by a newer commit"}, "lockstep apply"},
		"an apply at a former head": {runs.ApplyFailed, func(w world) {}, comment.ApplyFailed, []string{"**failed to apply**"}, "superseded"},
		"an apply in progress": {runs.Applying, func(w world) {
			e := ledger.ApplyRecord{Begun: time.Now().Add(-time.Minute), Progress: comment.Progress{Done: 3, Of: 20}, UnderWay: []comment.ChangeUnderWay{{Address: "x.a", Action: comment.Creating, Since: time.Now().Add(-30 * time.Second)}}}
			_, err := w.Records.Put(t.Context(), runstatus.ApplyDir(run(7, runs.Applying).Pull)+"/"+run(7, runs.Applying).Target()+"/1", pipeline.Encode(e), "")
			must(w, err)
		}, comment.Applying, []string{"applying (3 of 20)", "3 of 20 changes are done. Under way: `x.a` (creating for 3"}, ""},
		"an apply that has just begun": {runs.Applying, func(w world) {
			_, err := w.Begin(t.Context(), run(7, runs.Applying), ledger.ApplyRecord{Progress: comment.Progress{Done: 3, Of: 20}})
			must(w, err)
		}, comment.Applying, []string{"applying"}, "3 of 20"},
		"the queue": {runs.ApplyQueued, func(w world) {
			other := run(2, runs.Applying)
			other.Asked.By = "alice"
			_, err := w.Save(t.Context(), ledger.Versioned{Run: other})
			must(w, err)
			must(w, w.Join(t.Context(), other))
			_, err = w.Save(t.Context(), ledger.Versioned{Run: run(7, runs.ApplyQueued)})
			must(w, err)
			must(w, w.Join(t.Context(), run(7, runs.ApplyQueued)))
		}, comment.ApplyQueued, []string{"queued (2nd, behind #2)"}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			w := world{ledger.Ledger{Records: new(memory.Store)}, t}
			test.before(w)
			head := "abc"
			if strings.HasSuffix(name, " a former head") && !strings.HasPrefix(name, "one ") {
				head = "def"
			}
			p, err := runstatus.Project(t.Context(), w.Records, run(7, test.phase), head)
			if err == nil && p.Standing == comment.ApplyQueued {
				p.Ahead, err = runstatus.Ahead(t.Context(), w.Records, run(7, test.phase))
			}
			if err != nil || p.Standing != test.want {
				t.Fatalf("it is %s, want %s: %v", p.Standing, test.want, err)
			}
			text := comment.Check{ProjectStatus: p}.Summary(1000)
			for _, says := range test.says {
				if !strings.Contains(text, says) {
					t.Errorf("it lacks %q:\n%s", says, text)
				}
			}
			if test.never != "" && strings.Contains(text, test.never) {
				t.Errorf("it has %q:\n%s", test.never, text)
			}
		})
	}
}

// TestHead is a table of looks, of the standing of the head, and of the facts that the projects do not tell.
func TestHead(t *testing.T) {
	t.Parallel()
	pull := pipeline.Pull{Repo: github.Repo{ID: 4}, Number: 7}
	ready := []runs.Run{{ID: runs.ID{Project: "net"}, Phase: runs.Planned, Spec: runs.Spec{Head: "abc"}, Plan: runs.Plan{PlanSummary: comment.PlanSummary{Applyable: true}}}}
	former := []runs.Run{{ID: runs.ID{Project: "net"}, Phase: runs.Planned, Spec: runs.Spec{Head: "old"}, Plan: runs.Plan{PlanSummary: comment.PlanSummary{Applyable: true}}}, {ID: runs.ID{Project: "dns"}, Phase: runs.Superseded, Spec: runs.Spec{Head: "abc"}}}
	for name, test := range map[string]struct {
		look runstatus.Look
		all  []runs.Run
		want comment.HeadStanding
		ok   bool
	}{
		"without a look":            {ledger.Look{}, ready, comment.HeadAwaited, false},
		"no look yet":               {ledger.Look{Pull: pull}, nil, comment.HeadAwaited, true},
		"closed before":             {ledger.Look{Pull: pull, Ending: ledger.Ending{Closed: true}}, nil, comment.HeadClosed, false},
		"merged before":             {ledger.Look{Pull: pull, Ending: ledger.Ending{Closed: true, Merged: true}}, nil, comment.HeadClosed, true},
		"a plan":                    {ledger.Look{Pull: pull, Head: "abc"}, ready, comment.HeadWaiting, false},
		"a note":                    {ledger.Look{Pull: pull, Head: "abc", Display: ledger.Display{Notes: []string{"x"}}}, ready, comment.HeadWaiting, true},
		"a removed project":         {ledger.Look{Pull: pull, Head: "abc", Discovery: ledger.Discovery{Removed: "x"}}, ready, comment.HeadWaiting, true},
		"a plan of a former head":   {ledger.Look{Pull: pull, Head: "abc"}, former, comment.HeadNothing, true},
		"an apply of a former head": {ledger.Look{Pull: pull, Head: "abc", Discovery: ledger.Discovery{Projects: 1}}, []runs.Run{{Phase: runs.Applying, Spec: runs.Spec{Head: "old"}}}, comment.HeadPlanning, false},
		"a project without a plan":  {ledger.Look{Pull: pull, Head: "abc", Discovery: ledger.Discovery{Projects: 2}}, ready, comment.HeadAwaited, true},
		"a project that is gone": {
			ledger.Look{Pull: pull, Head: "abc", Discovery: ledger.Discovery{Projects: 1}}, []runs.Run{{Phase: runs.Superseded, Spec: runs.Spec{Head: "abc"}, End: runs.End{Fate: runs.Gone}}}, comment.HeadNothing, true,
		},
		"a project of another name, planned": {
			ledger.Look{Pull: pull, Head: "abc", Discovery: ledger.Discovery{Projects: 1}}, append([]runs.Run{{Phase: runs.Superseded, Spec: runs.Spec{Head: "abc"}, End: runs.End{EndSummary: comment.EndSummary{Renamed: "network"}}}}, ready...), comment.HeadWaiting, false,
		},
		"a project of another name, unplanned": {
			ledger.Look{Pull: pull, Head: "abc", Discovery: ledger.Discovery{Projects: 2}}, append([]runs.Run{{Phase: runs.Superseded, Spec: runs.Spec{Head: "abc"}, End: runs.End{EndSummary: comment.EndSummary{Renamed: "network"}}}}, ready...), comment.HeadAwaited, true,
		},
		"no project":                {ledger.Look{Pull: pull, Head: "abc"}, nil, comment.HeadNothing, true},
		"a problem":                 {ledger.Look{Pull: pull, Head: "abc", Obstacles: ledger.Obstacles{Problem: "x"}}, ready, comment.HeadUnknown, true},
		"a problem of a closed one": {ledger.Look{Pull: pull, Head: "abc", Obstacles: ledger.Obstacles{Problem: "x"}, Ending: ledger.Ending{Closed: true}}, ready, comment.HeadClosed, false},
		"a problem of a merged one": {ledger.Look{Pull: pull, Head: "abc", Obstacles: ledger.Obstacles{Problem: "x"}, Ending: ledger.Ending{Closed: true, Merged: true}}, ready, comment.HeadUnknown, true},
		"mistakes in policies":      {ledger.Look{Pull: pull, Head: "abc", Obstacles: ledger.Obstacles{Policies: "x"}}, ready, comment.HeadPolicies, true},
		"merged mistakes":           {ledger.Look{Pull: pull, Head: "abc", Obstacles: ledger.Obstacles{Policies: "x"}, Ending: ledger.Ending{Closed: true, Merged: true}}, ready, comment.HeadWaiting, false},
		"a conflict":                {ledger.Look{Pull: pull, Head: "abc", Discovery: ledger.Discovery{Conflict: true}}, nil, comment.HeadConflict, true},
		"a refusal":                 {ledger.Look{Pull: pull, Head: "abc", Obstacles: ledger.Obstacles{Refused: "x"}}, nil, comment.HeadRefused, true},
		"given up":                  {ledger.Look{Pull: pull, Head: "abc", GivenUp: "def"}, nil, comment.HeadGivenUp, true},
	} {
		h, ok := runstatus.Head(test.look, test.all)
		if h.Standing != test.want || ok != test.ok {
			t.Errorf("%s: %s %v, want %s %v", name, h.Standing, ok, test.want, test.ok)
		}
	}
}
