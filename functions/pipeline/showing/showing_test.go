package showing_test

import (
	"strings"
	"testing"

	"github.com/lockstep-iac/lockstep/engine/plans/counting"
	"github.com/lockstep-iac/lockstep/functions/comment"
	"github.com/lockstep-iac/lockstep/functions/comment/rulings"
	"github.com/lockstep-iac/lockstep/functions/pipeline"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/ledger"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/memory"
	"github.com/lockstep-iac/lockstep/functions/pipeline/runs"
	"github.com/lockstep-iac/lockstep/functions/pipeline/showing"
	"github.com/lockstep-iac/lockstep/github"
)

// TestProject is a table of records, and of the words on the page.
func TestProject(t *testing.T) {
	t.Parallel()
	repo := github.Repo{ID: 4, Owner: "acme", Name: "infra"}
	run := func(number int, phase runs.Phase) runs.Run {
		return runs.Run{Pull: pipeline.Pull{Repo: repo, Number: number}, Project: "net", Dir: "net", Workspace: "default", Head: "abc", Phase: phase, Applyable: true, Actor: "bob", Try: 1, Counts: counting.Counts{Add: 1}}
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
		"a plan": {runs.Planned, func(world) {}, comment.Ready, []string{"waits for `lockstep apply`"}, "requires"},
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
		}, comment.Blocked, []string{"`carol` has locked the state for #8", "the database moves"}, "To apply this plan"},
		"a requirement that is not met": {runs.Planned, func(w world) { decided(w, run(7, runs.Planned), rulings.Fails) },
			comment.Ready, []string{"**waits** for what is missing", "the block at `lockstep.hcl:3`"}, ""},
		"one that is met": {runs.Planned, func(w world) { decided(w, run(7, runs.Planned), rulings.Holds) },
			comment.Ready, []string{"To apply this plan"}, "**waits** for what is missing"},
		"one of a former head": {runs.Planned, func(w world) {
			former := run(7, runs.Planned)
			former.Head = "old"
			decided(w, former, rulings.Fails)
		}, comment.Ready, nil, "lockstep.hcl:3"},
		"the queue": {runs.ApplyQueued, func(w world) {
			other := run(2, runs.Applying)
			other.Actor = "alice"
			_, err := w.Save(t.Context(), ledger.Versioned{Run: other})
			must(w, err)
			must(w, w.Join(t.Context(), other))
			_, err = w.Save(t.Context(), ledger.Versioned{Run: run(7, runs.ApplyQueued)})
			must(w, err)
			must(w, w.Join(t.Context(), run(7, runs.ApplyQueued)))
		}, comment.ApplyQueued, []string{"place 1 in the queue of this state, behind #2 (`alice`)"}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			w := world{ledger.Ledger{Records: new(memory.Store)}, t}
			test.before(w)
			p, err := showing.Project(t.Context(), w.Records, run(7, test.phase))
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
