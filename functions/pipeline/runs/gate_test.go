package runs

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lockstep-iac/lockstep/functions/comment"
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

// allowed is a request to apply that nothing speaks against.
func allowed() Request {
	base := github.Branch{Repo: github.Repo{ID: 5, Owner: "acme", Name: "infra"}, Ref: "main", SHA: headTwo}
	head := base
	head.Ref, head.SHA = "topic", headOne
	state, onGitHub := before, planHash
	return Request{
		Verb: comment.Apply, Entry: ByComment, Actor: "alice", Permission: github.WritePermission,
		Pull: github.PullRequest{Number: 7, Open: true, Head: head, Base: base, DefaultBranch: "main"},
		At:   noon, Shown: noon.Add(-time.Minute), Saved: planHash, OnGitHub: &onGitHub,
		Run:   Run{Project: "net", Phase: Planned, PlanHash: planHash, Head: headOne, Actor: "bob", State: before, Applyable: true, ApplyOn: project.OnComment},
		State: &state,
	}
}

// TestGate is the table of all that can speak against a command: each row changes one
// thing, or a few, in a request that is allowed.
func TestGate(t *testing.T) {
	type change = func(*Request)
	verb := func(v comment.Verb) change { return func(q *Request) { q.Verb = v } }
	phase := func(p Phase) change { return func(q *Request) { q.Run.Phase = p } }
	state := func(s StateID) change { return func(q *Request) { q.State = &s } }
	may := func(p github.Permission) change { return func(q *Request) { q.Permission = p } }
	closed := func(q *Request) { q.Pull.Open = false }
	fork := func(q *Request) { q.Pull.Head.Repo.ID = 6 }
	other := func(q *Request) { q.Pull.Base.Ref = "mine" }
	named := func(q *Request) { q.BaseNamed = true }
	push := func(q *Request) {
		q.Verb, q.Entry, q.Actor, q.Permission = comment.Plan, ByPush, "", github.NoPermission
	}
	onMerge := func(q *Request) { q.Run.ApplyOn = project.OnMerge }
	merge := func(q *Request) {
		q.Entry, q.Pull.Open, q.Pull.Merged = ByMerge, false, true
		onMerge(q)
	}
	conflict := func(q *Request) { q.Conflict = true }
	differ := func(q *Request) { q.Differ = []string{"a.tf"} }
	modules := func(q *Request) { q.Modules = []string{"net from github.com/acme/net"} }
	shown := func(after time.Duration) change { return func(q *Request) { q.Shown = q.At.Add(after) } }
	hidden := func(q *Request) { q.Shown = time.Time{} }
	name := func(hash string) change { return func(q *Request) { q.Named = hash } }
	made := func(hash string) change { return func(q *Request) { q.Run.PlanHash = hash } }
	last := func(l LastApply) change { return func(q *Request) { q.Last = &l } }

	tests := []struct {
		name    string
		changes []change
		want    []Rule
	}{
		{"apply", nil, nil},
		{"apply, the state not looked at yet", []change{func(q *Request) { q.State = nil }}, nil},
		{"apply by an administrator", []change{may(github.AdminPermission)}, nil},
		{"apply by a reader", []change{may(github.ReadPermission)}, []Rule{NoPermission}},
		{"apply by a stranger", []change{may(github.NoPermission)}, []Rule{NoPermission}},
		{"plan by a reader", []change{verb(comment.Plan), may(github.ReadPermission)}, []Rule{NoPermission}},
		{"unlock by a reader", []change{verb(comment.Unlock), may(github.ReadPermission)}, []Rule{NoPermission}},
		{"a stranger hears nothing of the plan", []change{may(github.NoPermission), phase(PlanFailed)}, []Rule{NoPermission}},
		{"plan", []change{verb(comment.Plan)}, nil},
		{"plan for a push", []change{push}, nil},
		{"unlock", []change{verb(comment.Unlock)}, nil},

		{"plan of a fork", []change{verb(comment.Plan), fork}, []Rule{FromFork}},
		{"plan for a push to a fork", []change{push, fork}, []Rule{FromFork}},
		{"apply of a fork", []change{fork}, []Rule{FromFork}},
		{"a fork that is gone", []change{verb(comment.Plan), func(q *Request) { q.Pull.Head.Repo = github.Repo{} }}, []Rule{FromFork}},
		{"a stranger's fork", []change{fork, may(github.NoPermission)}, []Rule{NoPermission, FromFork}},

		{"plan into another branch", []change{verb(comment.Plan), other}, []Rule{OtherBase}},
		{"plan for a push into another branch", []change{push, other}, []Rule{OtherBase}},
		{"apply into another branch", []change{other}, []Rule{OtherBase}},
		{"unlock into another branch", []change{verb(comment.Unlock), other}, []Rule{OtherBase}},
		{"merge into another branch", []change{merge, other}, []Rule{OtherBase}},
		{"plan into a branch that is named", []change{verb(comment.Plan), other, named}, nil},
		{"apply into a branch that is named", []change{other, named}, nil},
		{"a default branch that is not known", []change{func(q *Request) { q.Pull.DefaultBranch = "" }}, []Rule{OtherBase}},

		{"plan when closed", []change{verb(comment.Plan), closed}, []Rule{NotOpen}},
		{"apply when closed", []change{closed}, []Rule{NotOpen}},
		{"unlock when closed", []change{verb(comment.Unlock), closed}, nil},

		{"apply without a plan", []change{phase(New)}, []Rule{NotPlanned}},
		{"apply while it is planned", []change{phase(Planning)}, []Rule{UnderWay}},
		{"apply after planning failed", []change{phase(PlanFailed)}, []Rule{PlanIsBad}},
		{"apply while it is applied", []change{phase(Applying)}, []Rule{UnderWay}},
		{"apply twice", []change{phase(Applied)}, []Rule{AlreadyDone}},
		{"apply after an apply failed", []change{phase(ApplyFailed)}, []Rule{ApplyBroken}},
		{"apply what was found stale", []change{phase(Stale)}, []Rule{StateMoved}},
		{"apply what was closed and opened", []change{phase(Dropped)}, []Rule{NotPlanned}},
		{"apply no changes", []change{func(q *Request) { q.Run.Applyable = false }}, []Rule{NothingToDo}},
		{"plan while it is applied", []change{verb(comment.Plan), phase(Applying)}, []Rule{UnderWay}},
		{"plan for a push while it is applied", []change{push, phase(Applying)}, []Rule{UnderWay}},
		{"plan while it is planned", []change{verb(comment.Plan), phase(Planning)}, nil},
		{"unlock while it is applied", []change{verb(comment.Unlock), phase(Applying)}, []Rule{UnderWay}},

		{"a comment older than the plan", []change{shown(time.Second)}, []Rule{PlanIsNewer}},
		{"a comment of the same second", []change{shown(0)}, []Rule{PlanIsNewer}},
		{"a comment younger than the plan", []change{shown(-time.Second)}, nil},
		{"a plan that was not shown", []change{hidden}, []Rule{PlanIsNewer}},
		{"a comment that nobody dates", []change{func(q *Request) { q.At = time.Time{} }}, []Rule{PlanIsNewer}},
		{"a comment that was decided about", []change{shown(time.Hour), func(q *Request) { q.Decided = true }}, nil},
		{"an old comment for a plan", []change{verb(comment.Plan), shown(time.Hour)}, nil},
		{"a merge before the plan was shown", []change{merge, hidden}, nil},
		{"the plan by its name", []change{name(planHash[:7])}, nil},
		{"the plan by its whole name, before it was shown", []change{name(planHash), hidden}, nil},
		{"the plan by its name, in an old comment", []change{name(planHash[:7]), shown(time.Hour)}, nil},
		{"another plan by its name", []change{name("1234567")}, []Rule{OtherPlan}},
		{"another plan by its name, which is longer", []change{name(planHash + "0")}, []Rule{OtherPlan}},
		{"no plan by a name", []change{name("1234567"), made("")}, []Rule{OtherPlan, PlanExchanged, PlanExchanged}},

		{"an exchanged plan", []change{func(q *Request) { q.Saved = planHash[1:] + "0" }}, []Rule{PlanExchanged}},
		{"an exchanged record", []change{made(strings.Repeat("0", 64))}, []Rule{PlanExchanged, PlanExchanged}},
		{"both exchanged", []change{made(strings.Repeat("0", 64)), func(q *Request) { q.Saved = q.Run.PlanHash }}, []Rule{PlanExchanged}},
		{"a record without a plan", []change{made(""), func(q *Request) { q.Saved, q.OnGitHub = "", new(string) }}, []Rule{PlanExchanged}},
		{"a check that shows no plan", []change{func(q *Request) { q.OnGitHub = new(string) }}, []Rule{PlanExchanged}},
		{"an exchanged plan, on merge", []change{merge, func(q *Request) { q.Saved = "x" }}, []Rule{PlanExchanged}},
		{"exchanged inputs", []change{func(q *Request) { q.Kept = "it was exchanged" }}, []Rule{PlanExchanged}},
		{"a plan that was not looked at yet", []change{func(q *Request) { q.Saved, q.OnGitHub = "", nil }}, nil},
		{"a push after the plan", []change{func(q *Request) { q.Pull.Head.SHA = headTwo }}, []Rule{HeadMoved}},
		{"another serial", []change{state(StateID{"l", 4, "v4"})}, []Rule{StateMoved}},
		{"an older serial", []change{state(StateID{"l", 2, "v2"})}, []Rule{StateMoved}},
		{"another lineage", []change{state(StateID{"m", 3, "v3"})}, []Rule{StateMoved}},
		{"the same serial, other bytes", []change{state(StateID{"l", 3, "v3b"})}, []Rule{StateMoved}},
		{"the state is gone", []change{state(StateID{})}, []Rule{StateMoved}},
		{"a first plan, and now there is a state", []change{func(q *Request) { q.Run.State = StateID{} }}, []Rule{StateMoved}},
		{"a first plan, and now there is an empty state", []change{func(q *Request) { q.Run.State = StateID{} }, state(StateID{Lineage: "l", Version: "v0"})}, []Rule{StateMoved}},
		{"a first plan, and still there is none", []change{func(q *Request) { q.Run.State = StateID{} }, state(StateID{})}, nil},

		{"another pull request was applied", []change{last(LastApply{Number: 8})}, []Rule{OtherUnmerged}},
		{"it was settled since", []change{last(LastApply{Number: 8, Settled: true})}, nil},
		{"it was this one", []change{last(LastApply{Number: 7})}, nil},
		{"planning is free", []change{verb(comment.Plan), last(LastApply{Number: 8})}, nil},

		{"apply by comment of what the merge applies", []change{onMerge}, []Rule{AppliedLater}},
		{"plan of what the merge applies", []change{verb(comment.Plan), onMerge}, nil},
		{"merge", []change{merge}, nil},
		{"merge by a reader", []change{merge, may(github.ReadPermission)}, []Rule{NoPermission}},
		{"merge by a bot", []change{merge, may(github.NoPermission), func(q *Request) { q.Actor, q.Pull.MergedBy = "queue[bot]", "queue[bot]" }}, nil},
		{"merge that a bot only speaks of", []change{merge, may(github.NoPermission), func(q *Request) { q.Actor, q.Pull.MergedBy = "queue[bot]", "alice" }}, []Rule{NoPermission}},
		{"merge by a stranger", []change{merge, may(github.NoPermission), func(q *Request) { q.Pull.MergedBy = "alice" }}, []Rule{NoPermission}},
		{"apply by a bot that merged", []change{may(github.NoPermission), func(q *Request) { q.Actor, q.Pull.MergedBy = "queue[bot]", "queue[bot]" }}, []Rule{NoPermission}},
		{"merge of a fork", []change{merge, fork}, []Rule{FromFork}},
		{"merge that was none", []change{merge, func(q *Request) { q.Pull.Merged = false }}, []Rule{NotMerged}},
		{"merge of what comments apply", []change{merge, func(q *Request) { q.Run.ApplyOn = project.OnComment }}, []Rule{NotOnMerge}},
		{"merge of other files", []change{merge, differ}, []Rule{InputsMoved}},
		{"merge of another head", []change{merge, func(q *Request) { q.Pull.Head.SHA = headTwo }}, []Rule{HeadMoved}},
		{"merge on another state", []change{merge, state(StateID{"l", 4, "v4"})}, []Rule{StateMoved}},
		{"merge before there is a plan", []change{merge, phase(Planning)}, []Rule{UnderWay}},
		{"merge without a plan", []change{merge, phase(PlanFailed)}, []Rule{PlanIsBad}},
		{"merge after another apply", []change{merge, last(LastApply{Number: 8})}, []Rule{OtherUnmerged}},

		{"apply while it waits to be planned", []change{phase(Queued)}, []Rule{UnderWay}},
		{"apply while it waits to be applied", []change{phase(ApplyQueued)}, []Rule{UnderWay}},
		{"apply of what the head does not touch", []change{phase(Superseded)}, []Rule{NotPlanned}},
		{"plan while it waits to be applied", []change{verb(comment.Plan), phase(ApplyQueued)}, []Rule{UnderWay}},
		{"plan while it waits to be planned", []change{verb(comment.Plan), phase(Queued)}, nil},
		{"unlock while it waits to be applied", []change{verb(comment.Unlock), phase(ApplyQueued)}, []Rule{UnderWay}},
		{"plan of a conflict", []change{verb(comment.Plan), conflict}, []Rule{Conflicts}},
		{"apply of a conflict", []change{conflict}, []Rule{Conflicts}},
		{"unlock in a conflict", []change{verb(comment.Unlock), conflict}, nil},
		{"modules moved", []change{modules}, []Rule{ModulesMoved}},
		{"by another version", []change{func(q *Request) { q.Outdated = true }}, []Rule{EngineMoved}},
		{"merge, and modules moved", []change{merge, modules}, []Rule{ModulesMoved}},
		{"the base branch moved the files", []change{differ}, []Rule{InputsMoved}},
		{"planning looks at no old files", []change{verb(comment.Plan), differ}, nil},

		{"several things at once", []change{closed, func(q *Request) { q.Pull.Head.SHA = headTwo }, state(StateID{}), last(LastApply{Number: 8})},
			[]Rule{NotOpen, HeadMoved, OtherUnmerged, StateMoved}},
	}
	for _, test := range tests {
		q := allowed()
		for _, c := range test.changes {
			c(&q)
		}
		d := Gate(q)
		var got []Rule
		for _, r := range d.Reasons {
			got = append(got, r.Rule)
			if r.Text == "" {
				t.Errorf("%s: %s has no text", test.name, r.Rule)
			}
		}
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%s: %s", test.name, diff)
		}
		if d.Allowed() != (len(test.want) == 0) {
			t.Errorf("%s: allowed %v", test.name, d.Allowed())
		}
	}
}

// TestGateWords holds that reasons have in them what a person needs.
func TestGateWords(t *testing.T) {
	q := allowed()
	q.State = &StateID{"l", 5, "v5"}
	q.Last = &LastApply{Number: 8, By: "carol", State: *q.State, Settled: true}
	got := Gate(q).Reasons[0]
	want := comment.Reason{
		Text:   "The plan is stale, because the state has moved: it was at serial 3 when the plan was made, and is at 5 now. `carol` has applied #8 in between.",
		Remedy: "Comment `lockstep plan` for a new plan, look at it, and apply that one.",
	}
	if diff := cmp.Diff(want, got.Reason); diff != "" {
		t.Error(diff)
	}
	q.Last.State.Serial = 4 // and somebody else after that
	if got := Gate(q).Reasons[0].Text; strings.Contains(got, "carol") {
		t.Errorf("the wrong one is named: %s", got)
	}
	q = allowed()
	q.Differ = strings.Fields("a b c d e f g h i j k l")
	if got := Gate(q).Reasons[0].Text; !strings.HasSuffix(got, "`i`, `j`, and 2 more.") || !strings.Contains(got, "the base branch has moved") {
		t.Errorf("many files: %s", got)
	}
	q.Entry, q.Pull.Open, q.Pull.Merged, q.Run.ApplyOn = ByMerge, false, true, project.OnMerge
	if got := Gate(q).Reasons[0]; !strings.Contains(got.Text, "in the commit that this pull request became") || !strings.HasPrefix(got.Remedy, "Open a pull request") {
		t.Errorf("after a merge: %+v", got)
	}
	q = allowed()
	q.Actor, q.Permission = "x`@team`", github.ReadPermission
	if got := Gate(q).Reasons[0].Text; !strings.HasPrefix(got, "`` x`@team` `` has the permission `read`") {
		t.Errorf("a login with markup: %s", got)
	}
}

// TestGateIsForQuestions holds that what cannot be asked is our bug.
func TestGateIsForQuestions(t *testing.T) {
	for name, change := range map[string]func(*Request){
		"an apply by nobody":  func(q *Request) { q.Actor = "" },
		"an apply by a push":  func(q *Request) { q.Actor, q.Entry = "", ByPush },
		"a push by somebody":  func(q *Request) { q.Verb, q.Entry = comment.Plan, ByPush },
		"a plan by a merge":   func(q *Request) { q.Verb, q.Entry = comment.Plan, ByMerge },
		"a way in of its own": func(q *Request) { q.Verb, q.Entry, q.Actor = comment.Plan, "", "" },
		"help":                func(q *Request) { q.Verb = comment.Help },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s was decided", name)
				}
			}()
			q := allowed()
			change(&q)
			Gate(q)
		}()
	}
}

// TestPhases holds that the phases hang together: all are reached, none is an end, and
// what is applied is left alone.
func TestPhases(t *testing.T) {
	reached := map[Phase]bool{New: true}
	for from, list := range follows {
		for _, to := range list {
			if _, ok := follows[to]; !ok {
				t.Errorf("%q is followed by %q, which is no phase", from, to)
			}
			reached[to] = true
		}
		if len(list) == 0 {
			t.Errorf("nothing may follow %q", from)
		}
		if left := from == Applying || from == ApplyQueued; from.May(Queued) == left {
			t.Errorf("%q may be planned again: %v", from, !left)
		}
		if from.May(Applying) != (from == ApplyQueued) {
			t.Errorf("%q may be applied: %v", from, from.May(Applying))
		}
		if from != Dropped && from != New && !from.May(Dropped) {
			t.Errorf("%q outlives its pull request", from)
		}
		Conclude(Run{Phase: from}.Standing()) // each has one
	}
	if len(reached) != len(follows) {
		t.Errorf("%d of %d phases are reached", len(reached), len(follows))
	}
	defer func() {
		if recover() == nil {
			t.Error("a step that may not follow was taken")
		}
	}()
	Run{Phase: Applied}.To(Applying)
}
