package runs

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lockstep-iac/lockstep/engine/plans/counting"
	"github.com/lockstep-iac/lockstep/functions/comment"
	"github.com/lockstep-iac/lockstep/functions/comment/grammar"
	"github.com/lockstep-iac/lockstep/functions/comment/rulings"
	"github.com/lockstep-iac/lockstep/functions/pipeline"
	"github.com/lockstep-iac/lockstep/functions/places"
	"github.com/lockstep-iac/lockstep/functions/project"
	"github.com/lockstep-iac/lockstep/github"
)

var (
	headOne  = strings.Repeat("1", 40)
	headTwo  = strings.Repeat("2", 40)
	noon     = time.Date(2026, time.March, 2, 12, 0, 0, 0, time.UTC)
	planHash = strings.Repeat("5ab1e0", 11)[:64]
	before   = StateID{Lineage: "l", Serial: 3, Version: "v3"}
)

// TestStanding is a table of runs, and how they and their checks stand. "x" is a plan with
// changes, "m" one that is applied on merge, "t" one with -target, "d" one with -destroy, "o" one of a state that has another name on the
// base branch, "r" that of a removed project, "s" one that was stopped, and "u" one of a head that is applied, or had no changes.
func TestStanding(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		phase, was Phase
		flags      string // x, m, t, d, o, r, s, u; M: merged
		want       comment.Standing
		status     github.CheckStatus
		conclusion github.Conclusion
	}{
		{New, "", "", comment.Superseded, github.CheckCompleted, github.ConcludedCancelled},
		{Queued, "", "", comment.Queued, github.CheckQueued, ""},
		{Planning, "", "", comment.Planning, github.CheckInProgress, ""},
		{Planned, "", "", comment.NoChanges, github.CheckCompleted, github.ConcludedSuccess},
		{Planned, "", "m", comment.NoChanges, github.CheckCompleted, github.ConcludedSuccess},
		{Planned, "", "x", comment.Ready, github.CheckCompleted, github.ConcludedSuccess},
		{Planned, "", "xm", comment.OnMerge, github.CheckCompleted, github.ConcludedSuccess},
		{Planned, "", "xt", comment.Ready, github.CheckCompleted, github.ConcludedSuccess},
		{Planned, "", "xo", comment.OnceMerged, github.CheckCompleted, github.ConcludedSuccess},
		{Planned, "", "xto", comment.OnceMerged, github.CheckCompleted, github.ConcludedSuccess},
		{Planned, "", "o", comment.NoChanges, github.CheckCompleted, github.ConcludedSuccess},
		{Planned, "", "xmo", comment.OnMerge, github.CheckCompleted, github.ConcludedSuccess},
		{Dropped, Planned, "xoM", comment.NotApplied, github.CheckCompleted, github.ConcludedActionRequired},
		{Planned, "", "t", comment.PartPlanned, github.CheckCompleted, github.ConcludedActionRequired},
		{Planned, "", "xmt", comment.PartPlanned, github.CheckCompleted, github.ConcludedActionRequired},
		{Planned, "", "xmd", comment.PartPlanned, github.CheckCompleted, github.ConcludedActionRequired},
		{Planned, "", "d", comment.PartPlanned, github.CheckCompleted, github.ConcludedActionRequired},
		{Planned, "", "dr", comment.NoChanges, github.CheckCompleted, github.ConcludedSuccess},
		{Planned, "", "r", comment.PartPlanned, github.CheckCompleted, github.ConcludedActionRequired},
		{Applied, "", "xt", comment.PartApplied, github.CheckCompleted, github.ConcludedActionRequired},
		{Applied, "", "xdr", comment.Applied, github.CheckCompleted, github.ConcludedSuccess},
		{PlanFailed, "", "", comment.PlanFailed, github.CheckCompleted, github.ConcludedFailure},
		{PlanFailed, "", "s", comment.PlanStopped, github.CheckCompleted, github.ConcludedActionRequired},
		{Dropped, PlanFailed, "sM", comment.PlanStopped, github.CheckCompleted, github.ConcludedActionRequired},
		{Dropped, PlanFailed, "s", comment.Closed, github.CheckCompleted, github.ConcludedCancelled},
		{PlanFailed, "", "u", comment.NoChanges, github.CheckCompleted, github.ConcludedSuccess},
		{PlanFailed, "", "us", comment.NoChanges, github.CheckCompleted, github.ConcludedSuccess},
		{Dropped, PlanFailed, "uM", comment.NoChanges, github.CheckCompleted, github.ConcludedSuccess},
		{Dropped, Queued, "utM", comment.NoChanges, github.CheckCompleted, github.ConcludedSuccess},
		{Planned, "", "ux", comment.Ready, github.CheckCompleted, github.ConcludedSuccess},
		{ApplyFailed, "", "ux", comment.ApplyFailed, github.CheckCompleted, github.ConcludedFailure},
		{ApplyQueued, "", "x", comment.ApplyQueued, github.CheckQueued, ""},
		{Applying, "", "x", comment.Applying, github.CheckInProgress, ""},
		{Continuing, "", "x", comment.Applying, github.CheckInProgress, ""},
		{Stopped, "", "x", comment.Stopped, github.CheckCompleted, github.ConcludedActionRequired},
		{Dropped, Stopped, "x", comment.Stopped, github.CheckCompleted, github.ConcludedActionRequired},
		{Dropped, Stopped, "xM", comment.Stopped, github.CheckCompleted, github.ConcludedActionRequired},
		{Applied, "", "x", comment.Applied, github.CheckCompleted, github.ConcludedSuccess},
		{ApplyFailed, "", "x", comment.ApplyFailed, github.CheckCompleted, github.ConcludedFailure},
		{Stale, "", "x", comment.Stale, github.CheckCompleted, github.ConcludedActionRequired},
		{Superseded, "", "x", comment.Superseded, github.CheckCompleted, github.ConcludedCancelled},
		// Closed, and not merged.
		{Dropped, Planned, "x", comment.Closed, github.CheckCompleted, github.ConcludedCancelled},
		{Dropped, Planned, "", comment.Closed, github.CheckCompleted, github.ConcludedCancelled},
		{Dropped, PlanFailed, "", comment.Closed, github.CheckCompleted, github.ConcludedCancelled},
		{Dropped, Applied, "x", comment.Applied, github.CheckCompleted, github.ConcludedSuccess},
		{Dropped, ApplyFailed, "x", comment.ApplyFailed, github.CheckCompleted, github.ConcludedFailure},
		{Dropped, Applied, "xt", comment.Applied, github.CheckCompleted, github.ConcludedSuccess},
		// Merged.
		{Dropped, Planned, "tM", comment.NotApplied, github.CheckCompleted, github.ConcludedActionRequired},
		{Dropped, Applied, "xtM", comment.PartApplied, github.CheckCompleted, github.ConcludedActionRequired},
		{Dropped, Planned, "xM", comment.NotApplied, github.CheckCompleted, github.ConcludedActionRequired},
		{Dropped, Planned, "M", comment.NoChanges, github.CheckCompleted, github.ConcludedSuccess},
		{Dropped, PlanFailed, "M", comment.PlanFailed, github.CheckCompleted, github.ConcludedFailure},
		{Dropped, Stale, "xM", comment.NotApplied, github.CheckCompleted, github.ConcludedActionRequired},
		{Dropped, Queued, "M", comment.NotApplied, github.CheckCompleted, github.ConcludedActionRequired},
		{Dropped, Applied, "xM", comment.Applied, github.CheckCompleted, github.ConcludedSuccess},
		{Dropped, ApplyFailed, "xM", comment.ApplyFailed, github.CheckCompleted, github.ConcludedFailure},
	} {
		r := Run{Phase: test.phase, Spec: Spec{ApplyOn: project.OnComment}, Plan: Plan{PlanSummary: comment.PlanSummary{Applyable: strings.Contains(test.flags, "x")}}, End: End{Was: test.was, Fate: ended(strings.Contains(test.flags, "M"))}}
		if strings.Contains(test.flags, "s") {
			r.End.StoppedBy = "bob"
		}
		if strings.Contains(test.flags, "m") {
			r.Spec.ApplyOn = project.OnMerge
		}
		if strings.Contains(test.flags, "o") {
			r.Address.Owner = "net"
		}
		if strings.Contains(test.flags, "t") {
			r.Spec.Options.Targets = []string{"a.b"}
		}
		r.Plan.Upheld = strings.Contains(test.flags, "u")
		r.Spec.Options.Destroy, r.Spec.Removed = strings.Contains(test.flags, "d"), strings.Contains(test.flags, "r")
		got := r.Standing()
		status, conclusion := Conclude(got)
		if got != test.want || status != test.status || conclusion != test.conclusion {
			t.Errorf("%s %s %s: %s, %s %s; want %s, %s %s", test.phase, test.was, test.flags, got, status, conclusion, test.want, test.status, test.conclusion)
		}
	}
}

// TestConcludeHeld holds that the check of a plan does not pass while its requirements are not fulfilled: it is red where a policy or a gate
// said no, and waits for a person otherwise.
func TestConcludeHeld(t *testing.T) {
	t.Parallel()
	says := func(why rulings.Why) rulings.Ruling {
		return rulings.Ruling{Outcome: rulings.Fails, Of: []rulings.Ruling{{Rule: rulings.Policy, Outcome: rulings.Fails, Against: []rulings.Against{{Why: why}}}}}
	}
	for _, s := range comment.Standings() {
		waits := s == comment.Ready || s == comment.OnMerge || s == comment.OnceMerged || s == comment.Renewed
		for _, test := range []struct {
			tree rulings.Ruling
			want github.Conclusion
		}{
			{rulings.Ruling{Outcome: rulings.Fails}, github.ConcludedActionRequired}, {rulings.Ruling{Outcome: rulings.Unknown}, github.ConcludedActionRequired},
			{says(rulings.Denied), github.ConcludedFailure}, {says(rulings.OtherPolicies), github.ConcludedActionRequired},
		} {
			status, want := Conclude(s)
			if waits || s == comment.Blocked {
				want = test.want
			}
			p := comment.ProjectStatus{Standing: s, Obstacles: comment.Obstacles{Required: &test.tree}}
			if gotStatus, got := ConcludeProject(p); gotStatus != status || got != want {
				t.Errorf("%s, %+v: %s %s", s, test.tree, gotStatus, got)
			}
		}
		for _, r := range []*rulings.Ruling{nil, {Outcome: rulings.Holds}} {
			_, was := Conclude(s)
			if _, got := ConcludeProject(comment.ProjectStatus{Standing: s, Obstacles: comment.Obstacles{Required: r}}); got != was {
				t.Errorf("%s, %v: %s", s, r, got)
			}
		}
	}
}

// TestNextBegun holds that no plan has the number of an earlier one, or one that is reserved.
func TestNextBegun(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ begun, reserved, want int }{{0, 0, 1}, {3, 0, 4}, {3, 5, 6}, {5, 3, 6}} {
		if got := (Run{Artifacts: Artifacts{Begun: test.begun, Reserved: test.reserved}}).NextBegun(); got != test.want {
			t.Errorf("after %d and %d: %d", test.begun, test.reserved, got)
		}
	}
}

// TestMade holds the phases that are the end of a plan.
func TestMade(t *testing.T) {
	t.Parallel()
	for phase := range follows {
		if got, want := (Run{Phase: phase}).PlanEnded(), phase == Planned || phase == PlanFailed; got != want {
			t.Errorf("%q: %t", phase, got)
		}
	}
}

// TestContentOf holds the numbers that requirements count: each kind of change has a digit of its own.
func TestContentOf(t *testing.T) {
	t.Parallel()
	got := ContentOf(counting.Counts{Import: 1, Add: 20, Change: 300, Destroy: 4000, Forget: 50000}, []string{"a", "b"})
	if diff := cmp.Diff(&Content{Changes: 54321, Destroys: 4000, Destroyed: []string{"a", "b"}}, got); diff != "" {
		t.Error(diff)
	}
}

// TestLastApply is a table of fates, one after the other, and the number of applies.
func TestLastApply(t *testing.T) {
	t.Parallel()
	l := LastApply{Number: 7, Applies: 3}
	for _, test := range []struct {
		fate            Fate
		settled, merged bool
	}{
		{Merged, true, true}, {StillOpen, false, false}, {Closed, true, false}, {StillOpen, false, false},
	} {
		if l = l.WithFate(test.fate); l.Settled != test.settled || l.Merged != test.merged || l.Number != 7 {
			t.Errorf("%s: %+v", test.fate, l)
		}
	}
	if n := l.Count(); n != 3 {
		t.Errorf("%d applies", n)
	}
	if n := (*LastApply)(nil).Count(); n != 0 {
		t.Errorf("%d applies before the first", n)
	}
}

// TestTells is a table of check runs, and of the facts that they should tell.
func TestTells(t *testing.T) {
	t.Parallel()
	const ok, bad = github.ConcludedSuccess, github.ConcludedFailure
	missing := func() *rulings.Ruling { return &rulings.Ruling{Outcome: rulings.Fails} }
	long := &rulings.Ruling{Outcome: rulings.Fails, Found: []string{strings.Repeat("x", 20<<10)}}
	for _, test := range []struct {
		record CheckRecord
		other  github.Conclusion // of another pull request
		wants  github.Conclusion
		around string
		needs  *rulings.Ruling
		tells  bool
	}{
		{CheckRecord{Conclusion: ok, Shown: ok}, "", ok, "", nil, true},
		{CheckRecord{Conclusion: ok, Shown: ok}, "", bad, "", nil, false},
		{CheckRecord{Conclusion: ok, Shown: ok}, "", ok, "a", nil, false},
		{CheckRecord{Conclusion: bad, Shown: bad, Around: "a"}, "", bad, "a", nil, true},
		{CheckRecord{Conclusion: bad, Shown: bad, Around: "a"}, "", bad, "b", nil, false},
		{CheckRecord{Conclusion: bad, Shown: bad, Around: "a"}, "", bad, "", nil, false},
		{CheckRecord{Conclusion: bad, Shown: ok}, "", bad, "", nil, false}, // a process has died before it wrote it
		{CheckRecord{Conclusion: ok, Shown: bad}, bad, ok, "", nil, true},
		{CheckRecord{Conclusion: ok, Shown: ok}, bad, ok, "", nil, false},
		{CheckRecord{Conclusion: ok, Shown: ok, Required: missing()}, "", ok, "", missing(), true},
		{CheckRecord{Conclusion: ok, Shown: ok, Required: missing()}, "", ok, "", nil, false},
		{CheckRecord{Conclusion: ok, Shown: ok}, "", ok, "", missing(), false},
		{CheckRecord{Conclusion: ok, Shown: ok, Required: missing()}, "", ok, "", &rulings.Ruling{Outcome: rulings.Holds}, false},
		{CheckRecord{Conclusion: ok, Shown: ok}, "", ok, "", long, true}, // it is in no record
	} {
		test.record.Key, test.record.Check = "0", "c"
		all := []CheckRecord{test.record, {Key: "1", Check: "c", Conclusion: test.other}}
		if got := test.record.Shows(test.wants, test.around, test.needs, all); got != test.tells {
			t.Errorf("%+v beside %q, for %q, around %q: %v", test.record, test.other, test.wants, test.around, got)
		}
	}
}

// TestAround holds that the digest of what a check tells of others is another one for each of them.
func TestAround(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, p := range []comment.ProjectStatus{
		{}, {Obstacles: comment.Obstacles{Blockers: []string{"a"}}}, {Obstacles: comment.Obstacles{Blockers: []string{"b"}}}, {Obstacles: comment.Obstacles{Blockers: []string{"a", "b"}}},
		{Queueing: comment.Queueing{Ahead: []comment.Turn{{Number: 1}}}}, {Queueing: comment.Queueing{Ahead: []comment.Turn{{Number: 1}, {Number: 2}}}},
		{Obstacles: comment.Obstacles{Lock: &comment.OwnLock{By: "alice"}}}, {Obstacles: comment.Obstacles{Lock: &comment.OwnLock{By: "bob"}}}, {Obstacles: comment.Obstacles{Lock: &comment.OwnLock{By: "alice", Because: "why"}}},
	} {
		if d := AroundDigest(p); seen[d] {
			t.Errorf("%+v: %q, as another one", p, d)
		} else {
			seen[d] = true
		}
	}
	if !seen[""] {
		t.Error("nothing has a digest")
	}
}

// TestInstead is a table of an own conclusion, and of others with the same check at the commit.
func TestInstead(t *testing.T) {
	t.Parallel()
	const ok, bad, act, gone = github.ConcludedSuccess, github.ConcludedFailure, github.ConcludedActionRequired, github.ConcludedCancelled
	const merged = "merged: " // the pull request is
	for _, test := range []struct {
		own    github.Conclusion
		others []github.Conclusion
		want   string // key of the other one: 1, 2 ...
	}{
		{ok, nil, ""},
		{ok, []github.Conclusion{ok, gone, ""}, ""},
		{ok, []github.Conclusion{ok, act, bad}, "3"},
		{ok, []github.Conclusion{bad, act}, "1"},
		{"", []github.Conclusion{act}, "1"},
		{act, []github.Conclusion{act, bad}, "2"},
		{act, []github.Conclusion{act}, ""},
		{bad, []github.Conclusion{bad, act}, ""},
		{ok, []github.Conclusion{merged + bad, merged + act}, ""},
		{ok, []github.Conclusion{merged + bad, act}, "2"},
		{merged + act, []github.Conclusion{ok}, "1"},
		{merged + ok, []github.Conclusion{ok, bad}, "2"},
		{merged + act, []github.Conclusion{"", gone}, ""},
		{merged + act, []github.Conclusion{merged + ok, merged + bad}, "2"},
		{merged + act, []github.Conclusion{merged + bad, ok}, "2"},
	} {
		record := func(key string, c github.Conclusion) CheckRecord {
			own, is := strings.CutPrefix(string(c), merged)
			return CheckRecord{Key: key, Check: "c", Conclusion: github.Conclusion(own), Merged: is}
		}
		own := record("0", test.own)
		all := []CheckRecord{own, {Key: "elsewhere", Check: "other", Conclusion: bad}}
		for i, c := range test.others {
			all = append(all, record(string(rune('1'+i)), c))
		}
		got := ""
		if other := ShownInstead(own, all); other != nil {
			got = other.Key
		}
		if got != test.want {
			t.Errorf("%q among %q: %q, want %q", test.own, test.others, got, test.want)
		}
	}
	if other := ShownInstead(CheckRecord{Key: "0", Check: "c", Conclusion: ok}, []CheckRecord{{Key: "0", Check: "c", Conclusion: bad}}); other != nil {
		t.Error("a run is in the place of itself")
	}
}

// TestKeysOfRuns holds the forms of keys and names: records of old releases have them.
func TestKeysOfRuns(t *testing.T) {
	t.Parallel()
	pull := pipeline.Pull{Repo: github.Repo{ID: 5, Owner: "acme", Name: "infra"}, Number: 7}
	for _, test := range []struct {
		project, workspace, target, check string
	}{
		{"net", "default", "net@default", "net"},
		{"net", "staging", "net@staging", "net@staging"},
		{".", "default", "%2E@default", "."},
		{"..", "..", "%2E%2E@%2E%2E", "..@.."},
		{"a/b c", "default", "a%2Fb%20c@default", "a/b c"},
	} {
		r := Run{ID: ID{Pull: pull, Project: test.project, Workspace: test.workspace}, Artifacts: Artifacts{Begun: 3}}
		got := map[string]string{"target": r.Target(), "key": r.Key(), "shown": r.ShownKey(), "state": r.StateKey(), "check": r.Check()}
		want := map[string]string{
			"target": test.target, "key": pull.Runs() + "/" + test.target, "shown": "shown/5/7/" + test.target + ".3",
			"state": "state/5/" + test.target, "check": pipeline.CheckPrefix + test.check,
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: %s", test.project, diff)
		}
		if plain := r.MessageName(); len(plain) != 16 || strings.Trim(plain, "0123456789abcdef") != "" {
			t.Errorf("%s: plain %q", test.project, plain)
		}
	}
}

// TestClaimOf holds that places in S3 are claimed, and no others.
func TestClaimOf(t *testing.T) {
	t.Parallel()
	r := Run{ID: ID{Pull: pipeline.Pull{Repo: github.Repo{ID: 5, Owner: "acme", Name: "infra"}}, Project: "net", Workspace: "staging"}}
	if c := r.ClaimOf(places.Place{Backend: "local"}); c != nil {
		t.Errorf("a local place: %+v", c)
	}
	p := places.Place{Backend: "s3", Arguments: map[string]any{"bucket": "b", "key": "k"}}
	want := &places.Claim{Place: p.String(), RepoID: 5, Repo: "acme/infra", Project: "net", Workspace: "staging"}
	if diff := cmp.Diff(want, r.ClaimOf(p)); diff != "" {
		t.Error(diff)
	}
}

// TestOvertaken is the table of runs at a merge: whether it came before a plan that it can be about.
func TestOvertaken(t *testing.T) {
	t.Parallel()
	waits := Run{Phase: Planned, Spec: Spec{ApplyOn: project.OnMerge}, Plan: Plan{PlanSummary: comment.PlanSummary{Applyable: true}}}
	as := func(change func(*Run)) Run { r := waits; change(&r); return r }
	dropped := func(was Phase, merged bool) Run {
		return as(func(r *Run) { r.Phase, r.End = Dropped, End{Was: was, Fate: ended(merged)} })
	}
	for _, test := range []struct {
		name string
		run  Run
		// shown is the time between the plan's showing and the merge.
		shown time.Duration
		want  bool
	}{
		{"a plan that was shown", waits, time.Second, false},
		{"in the same second", waits, 0, true},
		{"afterwards", waits, -time.Second, true},
		{"which comments apply", as(func(r *Run) { r.Spec.ApplyOn = project.OnComment }), -time.Second, false},
		{"of a removed project", as(func(r *Run) { r.Spec.Removed, r.Spec.Options.Destroy = true, true }), -time.Second, false},
		{"without changes", as(func(r *Run) { r.Plan.Applyable = false }), -time.Second, false},
		{"of a part without changes", as(func(r *Run) { r.Plan.Applyable, r.Spec.Options.Targets = false, []string{"a.b"} }), -time.Second, false},
		{"made after the merge", as(func(r *Run) { r.Spec.AfterMerge = true }), -time.Second, false},
		{"queued after the merge", as(func(r *Run) { r.Spec.AfterMerge, r.Phase = true, Queued }), time.Second, false},
		{"queued", as(func(r *Run) { r.Phase = Queued }), time.Second, true},
		{"queued, and comments apply it", as(func(r *Run) { r.Phase, r.Spec.ApplyOn = Queued, project.OnComment }), time.Second, true},
		{"in the making", as(func(r *Run) { r.Phase = Planning }), time.Second, true},
		{"failed", as(func(r *Run) { r.Phase = PlanFailed }), -time.Second, false},
		{"failed, of a head that had no changes", as(func(r *Run) { r.Phase, r.Plan.Upheld, r.Plan.Idle = PlanFailed, true, true }), -time.Second, true},
		{"failed, of an applied head", as(func(r *Run) { r.Phase, r.Plan.Upheld = PlanFailed, true }), -time.Second, false},
		{"being applied", as(func(r *Run) { r.Phase = Applying }), -time.Second, false},
		{"without credentials", as(func(r *Run) { r.Spec.Named, r.Plan.Applyable = headOne, false }), time.Second, true},
		{"dropped by the merge, shown", dropped(Planned, true), time.Second, false},
		{"dropped by the merge, not shown", dropped(Planned, true), -time.Second, true},
		{"dropped by the merge, in the making", dropped(Planning, true), time.Second, true},
		{"dropped by the merge, applied", dropped(Applied, true), time.Second, false},
		{"dropped by the merge, without changes", as(func(r *Run) { r.Phase, r.End.Was, r.End.Fate, r.Plan.Applyable = Dropped, Planned, Merged, false }), -time.Second, false},
		{"dropped by the merge, without changes, of other files", as(func(r *Run) {
			r.Phase, r.End.Was, r.End.Fate, r.Plan.Applyable, r.End.Differs = Dropped, Planned, Merged, false, true
		}), time.Second, true},
		{"dropped before", dropped(Planned, false), time.Second, true},
		{"dropped before, applied", dropped(Applied, false), time.Second, false},
	} {
		if got := MergedTooEarly(test.run, noon.Add(-test.shown), noon); got != test.want {
			t.Errorf("%s: %v", test.name, got)
		}
	}
	if !MergedTooEarly(waits, time.Time{}, noon) {
		t.Error("a plan that was never shown")
	}
}

// TestHad holds that a base has the last word on a state only where the merge into that branch has removed the project.
func TestHad(t *testing.T) {
	t.Parallel()
	r := Run{Spec: Spec{Removed: true, AfterMerge: true, BaseRef: "main"}}
	kept, open, former := r, r, r
	kept.Spec.Removed, open.Spec.AfterMerge, former.Spec.BaseRef = false, false, ""
	for i, test := range []struct {
		run    Run
		branch string
		want   bool
	}{{r, "main", true}, {r, "release", false}, {kept, "main", false}, {open, "main", false}, {former, "main", false}} {
		if got := RemovedFrom(test.run, test.branch); got != test.want {
			t.Errorf("%d: %v", i, got)
		}
	}
}

// TestUpholds is the table of runs before a plan with options: whether nothing that it leaves out is left to be done.
func TestUpholds(t *testing.T) {
	t.Parallel()
	applied := Run{Phase: Applied, Spec: Spec{Head: headOne, Base: headTwo}, Plan: Plan{PlanSummary: comment.PlanSummary{Applyable: true}}}
	as := func(change func(*Run)) Run { r := applied; change(&r); return r }
	for _, test := range []struct {
		name string
		run  Run
		want string
	}{
		{"applied", applied, "upheld"},
		{"applied, and the base branch has moved", as(func(r *Run) { r.Spec.Base = headOne }), "upheld"},
		{"at another head", as(func(r *Run) { r.Spec.Head = headTwo }), ""},
		{"applied in part", as(func(r *Run) { r.Spec.Options.Targets = []string{"a.b"} }), ""},
		{"merged after it was applied", as(func(r *Run) { r.Phase, r.End = Dropped, End{Was: Applied, Fate: Merged} }), "upheld"},
		{"closed after it was applied", as(func(r *Run) { r.Phase, r.End.Was = Dropped, Applied }), ""},
		{"its apply failed", as(func(r *Run) { r.Phase = ApplyFailed }), ""},
		{"with changes", as(func(r *Run) { r.Phase = Planned }), ""},
		{"without", as(func(r *Run) { r.Phase, r.Plan.Applyable = Planned, false }), "idle"},
		{"without, and the base branch has moved", as(func(r *Run) { r.Phase, r.Plan.Applyable, r.Spec.Base = Planned, false, headOne }), ""},
		{"a part without", as(func(r *Run) { r.Phase, r.Plan.Applyable, r.Spec.Options.Targets = Planned, false, []string{"a.b"} }), ""},
		{"its plan failed", as(func(r *Run) { r.Phase, r.Plan.Applyable = PlanFailed, false }), ""},
		{"applied, and a plan failed", as(func(r *Run) { r.Phase, r.Plan.Upheld = PlanFailed, true }), "upheld"},
		{"applied, a plan failed, and the base branch has moved", as(func(r *Run) { r.Phase, r.Plan.Upheld, r.Spec.Base = PlanFailed, true, headOne }), "upheld"},
		{"without, and a plan failed", as(func(r *Run) { r.Phase, r.Plan.Upheld, r.Plan.Idle = PlanFailed, true, true }), "idle"},
		{"without, a plan failed, and the base branch has moved", as(func(r *Run) { r.Phase, r.Plan.Upheld, r.Plan.Idle, r.Spec.Base = PlanFailed, true, true, headOne }), ""},
	} {
		got := ""
		switch upheld, idle := HeadIsDone(test.run, headOne, headTwo); {
		case upheld && idle:
			got = "idle"
		case upheld:
			got = "upheld"
		}
		if got != test.want {
			t.Errorf("%s: %q", test.name, got)
		}
	}
	// What a plan changes, or leaves out, counts once it is made.
	made := Run{Phase: Planning, Spec: Spec{Options: grammar.Options{Imports: []string{"a.b x"}}}, Plan: Plan{PlanSummary: comment.PlanSummary{Upheld: true}, Idle: true}}
	if r := made.To(Planned); r.Plan.Upheld || r.Plan.Idle {
		t.Error("a plan that is made has not taken the place of what was known")
	}
	if made.Spec.Options = (grammar.Options{RefreshOnly: true}); !made.To(Planned).Plan.Upheld {
		t.Error("a look at changes from outside leaves out something")
	}
	if made.Spec.Options = (grammar.Options{Invoke: "action.a.b"}); !made.To(Planned).Plan.Upheld {
		t.Error("a plan that only invokes an action leaves out something")
	}
}

// ended is the fate of a pull request that is not open.
func ended(merged bool) Fate {
	if merged {
		return Merged
	}
	return Closed
}
