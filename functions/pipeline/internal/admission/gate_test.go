package admission

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lockstep-iac/lockstep/functions/comment"
	"github.com/lockstep-iac/lockstep/functions/comment/grammar"
	"github.com/lockstep-iac/lockstep/functions/comment/reasons"
	"github.com/lockstep-iac/lockstep/functions/comment/rulings"
	"github.com/lockstep-iac/lockstep/functions/pipeline"
	"github.com/lockstep-iac/lockstep/functions/pipeline/runs"
	"github.com/lockstep-iac/lockstep/functions/pipeline/runs/runstest"
	"github.com/lockstep-iac/lockstep/functions/project"
	"github.com/lockstep-iac/lockstep/github"
)

var (
	headOne  = runstest.Head
	headTwo  = strings.Repeat("2", 40)
	noon     = time.Date(2026, time.March, 2, 12, 0, 0, 0, time.UTC)
	planHash = strings.Repeat("5ab1e0", 11)[:64]
	before   = runs.StateID{Lineage: "l", Serial: 3, Version: "v3"}
)

// allowed is a request to apply that nothing speaks against.
func allowed() Request {
	base := github.Branch{Repo: github.Repo{ID: 5, Owner: "acme", Name: "infra"}, Ref: "main", SHA: headTwo}
	head := base
	head.Ref, head.SHA = "topic", headOne
	state, onGitHub := before, planHash
	return Request{
		Command: Command{Verb: comment.Apply, Entry: ByComment, Actor: "alice", Permission: github.WritePermission, At: noon},
		Pull:    github.PullRequest{Number: 7, Open: true, Head: head, Base: base, DefaultBranch: "main"},
		Stored:  Stored{Shown: noon.Add(-time.Minute), Saved: planHash, OnGitHub: &onGitHub},
		Run:     runs.Run{ID: runs.ID{Project: "net"}, Phase: runs.Planned, Spec: runs.Spec{Head: headOne, ApplyOn: project.OnComment}, Asked: runs.Asked{By: "bob"}, Plan: runs.Plan{PlanSummary: comment.PlanSummary{Hash: planHash, Applyable: true}, State: before}},
		State:   &state,
	}
}

// TestGate is the table of all that can speak against a command: each row changes one
// thing, or a few, in a request that is allowed.
func TestGate(t *testing.T) {
	type change = func(*Request)
	verb := func(v comment.Verb) change { return func(q *Request) { q.Verb = v } }
	phase := func(p runs.Phase) change { return func(q *Request) { q.Run.Phase = p } }
	state := func(s runs.StateID) change { return func(q *Request) { q.State = &s } }
	may := func(p github.Permission) change { return func(q *Request) { q.Permission = p } }
	shows := func(q *Request) { q.Verb, q.Shows, q.Run.Phase = comment.Plan, true, runs.Queued }
	private := func(q *Request) { q.Pull.Private = true }
	closed := func(q *Request) { q.Pull.Open = false }
	fork := func(q *Request) { q.Pull.Head.Repo.ID = 6 }
	forks := func(q *Request) { fork(q); q.Forks, q.Pull.Author = true, "mallory" }
	commit := func(sha string) change { return func(q *Request) { q.Run.Spec.Named = sha } }
	other := func(q *Request) { q.Pull.Base.Ref = "mine" }
	named := func(q *Request) { q.BaseNamed = true }
	push := func(q *Request) {
		q.Verb, q.Entry, q.Actor, q.Permission = comment.Plan, ByPush, "", github.NoPermission
	}
	onMerge := func(q *Request) { q.Run.Spec.ApplyOn = project.OnMerge }
	merge := func(q *Request) {
		q.Entry, q.Pull.Open, q.Pull.Merged = ByMerge, false, true
		onMerge(q)
	}
	mergedSince := func(q *Request) { q.Pull.Open, q.Pull.Merged = false, true }
	onIssue := func(state github.IssueState) change {
		return func(q *Request) {
			q.Pull.Open, q.Pull.Merged, q.Pull.Issue = false, true, state
			q.Run.Spec.AfterMerge, q.Run.Spec.OnIssue = true, true
		}
	}
	after := func(q *Request) { q.Run.Spec.AfterMerge = true }
	given := func(q *Request) { q.ServedBy = "ou-a" }
	shadow := func(q *Request) { q.Shadow = true }
	compares := func(q *Request) { q.Compares = true }
	conflict := func(q *Request) { q.Conflict = true }
	options := func(o grammar.Options) change { return func(q *Request) { q.Run.Spec.Options = o } }
	removed := func(q *Request) { q.Run.Spec.Removed = true }
	restored := func(q *Request) { q.Run.Spec.Removed, q.Restored = true, true }
	differ := func(q *Request) { q.Differ = []string{"a.tf"} }
	broken := func(q *Request) { q.Broken, q.OfBase = "Unclosed configuration block", true }
	modules := func(q *Request) { q.Modules = []string{"net from github.com/acme/net"} }
	shown := func(after time.Duration) change { return func(q *Request) { q.Shown = q.At.Add(after) } }
	hidden := func(q *Request) { q.Shown = time.Time{} }
	name := func(hash string) change { return func(q *Request) { q.Named = hash } }
	made := func(hash string) change { return func(q *Request) { q.Run.Plan.Hash = hash } }
	again := func(equal bool) change {
		return func(q *Request) { q.Again = &Again{Hash: headTwo, State: *q.State, Equal: equal} }
	}
	whole := func(q *Request) {
		q.Run.Plan.Parts = &runs.PlanParts{State: before, Engine: "1", Saved: planHash}
		q.Run.Plan.Hash = q.Run.Plan.Parts.Hash()
		*q.OnGitHub = q.Run.Plan.Hash
	}
	last := func(l runs.LastApply) change { return func(q *Request) { q.Last = &l } }
	renewed := func(q *Request) { q.Run.Plan.Checked = &runs.Checked{Renewed: true} }
	blocks := func(q *Request) { q.Blocks = []string{"aws_vpc.main"} }
	required := func(o rulings.Outcome) change { return func(q *Request) { q.Required = &rulings.Ruling{Outcome: o} } }
	locked := func(v runs.Reservation) change { return func(q *Request) { q.Reserved = &v } }
	placed := func(p Placing) change { return func(q *Request) { q.Placing = &p } }
	elsewhere := func(q *Request) { q.Run.Address.Place = "s3://states/net"; q.Placing = &Placing{} }
	destroying := func(q *Request) { q.Run.Plan.Counts.Destroy = 2 }
	copied := func(q *Request) { q.Copied = "web" }
	inTurn := func(all string) change {
		return func(q *Request) { q.Run.Project, q.Order = "app", runstest.Order("app>net", "app>net", all) }
	}
	foreseen := func(q *Request) {
		q.Run.Plan.Parts = &runs.PlanParts{State: before, Engine: "1", Saved: planHash, PlannedOn: map[string]string{"vpc@default": headTwo}}
		q.Run.Plan.Hash = q.Run.Plan.Parts.Hash()
		*q.OnGitHub = q.Run.Plan.Hash
	}
	reads := func(n int) change {
		return func(q *Request) {
			q.Run.Plan.Reads, q.Applied = map[string]int{"vpc@default": 1}, map[string]int{"vpc@default": n}
		}
	}
	waiting := func(q *Request) { q.Run = q.Run.WithWaiting(runs.Waiting{By: "carol", On: []string{"vpc"}}) }
	queue := func(q *Request) {
		q.Actor, q.Permission, q.Pull.MergedBy = "queue[bot]", github.NoPermission, pipeline.MergeQueue
	}
	moved := func(q *Request) { q.Pull.Head.SHA = headTwo }
	provider := func(q *Request) { q.Providers = "it is another one" }
	version := func(q *Request) { q.OtherVersion = true }
	around := func(q *Request) { q.Around = []string{"x"} }
	unlocked := func(q *Request) { q.State = nil }
	gone := func(q *Request) { q.Gone = "no such commit" }
	unusable := func(q *Request) { q.Unusable = "no such environment" }
	ungenerated := func(q *Request) { q.Ungenerated = &reasons.StepFailed{Step: "cdk"} }
	replaced := func(shown string) change {
		return func(q *Request) { q.Run.Plan.Again, q.Saved, q.AgainOnGitHub = headTwo, headTwo, shown }
	}

	tests := []struct {
		name    string
		changes []change
		want    string // the types of the reasons
	}{
		{"apply", nil, ""},
		{"apply, the state not looked at yet", []change{func(q *Request) { q.State = nil }}, ""},
		{"apply by an administrator", []change{may(github.AdminPermission)}, ""},
		{"apply by a reader", []change{may(github.ReadPermission)}, "NoPermission"},
		{"apply by a stranger", []change{may(github.NoPermission)}, "NoPermission"},
		{"show by a reader of a public repository", []change{shows, may(github.ReadPermission)}, "NoPermission"},
		{"show by a reader of a private repository", []change{shows, private, may(github.ReadPermission)}, ""},
		{"show by a stranger to a private repository", []change{shows, private, may(github.NoPermission)}, "NoPermission"},
		{"show by a writer", []change{shows}, ""},
		{"show by a reader of a private repository, with a requirement", []change{shows, private, may(github.ReadPermission), required(rulings.Fails)}, "Required"},
		{"show of a fork by a reader of a private repository", []change{shows, private, fork, may(github.ReadPermission)}, "FromFork"},
		{"plan by a reader of a private repository", []change{verb(comment.Plan), private, may(github.ReadPermission)}, "NoPermission"},
		{"plan by a reader", []change{verb(comment.Plan), may(github.ReadPermission)}, "NoPermission"},
		{"recover by a reader", []change{verb(comment.Recover), may(github.ReadPermission)}, "NoPermission"},
		{"recover", []change{verb(comment.Recover)}, ""},
		{"recover from a fork", []change{verb(comment.Recover), fork}, "FromFork"},
		{"recover while it is applied", []change{verb(comment.Recover), phase(runs.Applying)}, "BeingApplied"},
		{"recover what goes on", []change{verb(comment.Recover), phase(runs.Continuing)}, "BeingApplied"},
		{"recover what was stopped", []change{verb(comment.Recover), phase(runs.Stopped)}, ""},
		{"stop by a reader", []change{verb(comment.Stop), may(github.ReadPermission)}, "NoPermission"},
		{"stop", []change{verb(comment.Stop)}, ""},
		{"stop while it is applied", []change{verb(comment.Stop), phase(runs.Applying)}, ""},
		{"stop when closed", []change{verb(comment.Stop), closed}, ""},
		{"stop into another branch", []change{verb(comment.Stop), other}, ""},
		{"stop into another branch, by a reader", []change{verb(comment.Stop), other, may(github.ReadPermission)}, "NoPermission"},
		{"stop from a fork", []change{verb(comment.Stop), fork}, "FromFork"},
		{"apply of what goes on", []change{phase(runs.Continuing)}, "BeingApplied"},
		{"plan of what goes on", []change{verb(comment.Plan), phase(runs.Continuing)}, "BeingApplied"},
		{"apply of the rest", []change{phase(runs.Stopped)}, ""},
		{"apply of the rest by a reader", []change{phase(runs.Stopped), may(github.ReadPermission)}, "NoPermission"},
		{"apply of the rest of other files", []change{phase(runs.Stopped), differ}, "InputsMoved"},
		{"apply of the rest to another state", []change{phase(runs.Stopped), state(runs.StateID{Lineage: "l", Serial: 4, Version: "v4"})}, "StateMoved"},
		{"plan of the rest", []change{verb(comment.Plan), phase(runs.Stopped)}, ""},
		{"unlock by a reader", []change{verb(comment.Unlock), may(github.ReadPermission)}, "NoPermission"},
		{"a stranger hears nothing of the plan", []change{may(github.NoPermission), phase(runs.PlanFailed)}, "NoPermission"},
		{"plan", []change{verb(comment.Plan)}, ""},
		{"plan for a push", []change{push}, ""},
		{"unlock", []change{verb(comment.Unlock)}, ""},

		{"plan of a fork", []change{verb(comment.Plan), fork}, "FromFork"},
		{"plan for a push to a fork", []change{push, fork}, "FromFork"},
		{"apply of a fork", []change{fork}, "FromFork"},
		{"a fork that is gone", []change{verb(comment.Plan), func(q *Request) { q.Pull.Head.Repo = github.Repo{} }}, "FromFork"},
		{"a stranger's fork", []change{fork, may(github.NoPermission)}, "NoPermission FromFork"},

		{"plan of a named commit of a fork", []change{verb(comment.Plan), forks, commit(headOne)}, ""},
		{"plan of a named commit of a fork, which the base does not allow", []change{verb(comment.Plan), fork, commit(headOne)}, "FromFork"},
		{"plan of a fork, without a commit", []change{verb(comment.Plan), forks}, "ForkUnnamed"},
		{"plan for a push to a fork that may be planned", []change{push, forks}, "ForkUnnamed"},
		{"plan of another commit of a fork", []change{verb(comment.Plan), forks, commit(headTwo)}, "OtherCommit"},
		{"plan of a fork's commit that begins so", []change{verb(comment.Plan), forks, commit(headOne[:12])}, "OtherCommit"},
		{"plan of a fork's commit by its author", []change{verb(comment.Plan), forks, commit(headOne), func(q *Request) { q.Actor = "mallory" }}, "OwnFork"},
		{"plan of a fork's commit by its author, who is a stranger", []change{verb(comment.Plan), forks, commit(headOne), may(github.ReadPermission), func(q *Request) { q.Actor = "mallory" }}, "NoPermission OwnFork"},
		{"plan of a fork's commit, queued for another one", []change{verb(comment.Plan), forks, commit(headOne), phase(runs.Queued), func(q *Request) { q.Run.Spec.Head = headTwo }}, "OtherCommit"},
		{"plan of a fork's commit, begun for another one", []change{verb(comment.Plan), forks, commit(headOne), phase(runs.Planning), func(q *Request) { q.Run.Spec.Head = headTwo }}, "OtherCommit"},
		{"plan of a fork's commit, after the plan of another one", []change{verb(comment.Plan), forks, commit(headOne), func(q *Request) { q.Run.Spec.Head = headTwo }}, ""},
		{"plan of a fork's commit, queued, pushed since", []change{verb(comment.Plan), forks, commit(headTwo), phase(runs.Queued), func(q *Request) { q.Run.Spec.Head = headTwo }}, "OtherCommit"},
		{"plan of a named commit of a fork into another branch", []change{verb(comment.Plan), forks, commit(headOne), other}, "OtherBase"},
		{"apply of a fork that is planned", []change{forks, commit(headOne)}, "ForkOnlyPlanned"},
		{"apply of a fork that may be planned", []change{forks}, "ForkOnlyPlanned"},
		{"merge of a fork that is planned", []change{merge, forks, commit(headOne)}, "ForkOnlyPlanned"},
		{"apply of a fork's plan after the merge", []change{forks, mergedSince, commit(headOne)}, "ForkOnlyPlanned"},
		{"apply of a fork's plan that claims to be one after the merge", []change{forks, mergedSince, after, commit(headOne)}, "ForkOnlyPlanned"},
		{"plan of a fork after the merge", []change{verb(comment.Plan), forks, mergedSince}, ""},
		{"plan of a fork after the merge, by its author", []change{verb(comment.Plan), forks, mergedSince, func(q *Request) { q.Actor = "mallory" }}, ""},
		{"apply of a fork's plan of what was merged", []change{forks, mergedSince, after}, ""},
		{"apply of it before the merge", []change{forks, after}, "ForkOnlyPlanned"},
		{"stop of a fork's plan", []change{verb(comment.Stop), forks}, ""},
		{"unlock of a fork that may be planned", []change{verb(comment.Unlock), forks}, "ForkOnlyPlanned"},
		{"recover of a fork that may be planned", []change{verb(comment.Recover), forks}, "ForkOnlyPlanned"},
		{"lock of a fork that may be planned", []change{verb(comment.Lock), forks}, "ForkOnlyPlanned"},
		{"override of a fork that may be planned", []change{verb(comment.Override), forks}, "ForkOnlyPlanned"},
		{"plan of a commit", []change{verb(comment.Plan), commit(headOne)}, ""},
		{"plan of another commit than the head", []change{verb(comment.Plan), commit(headTwo)}, "OtherCommit"},
		{"plan of a part of a commit's ID", []change{verb(comment.Plan), commit(headOne[:12])}, "OtherCommit"},

		{"plan into another branch", []change{verb(comment.Plan), other}, "OtherBase"},
		{"plan for a push into another branch", []change{push, other}, "OtherBase"},
		{"apply into another branch", []change{other}, "OtherBase"},
		{"unlock into another branch", []change{verb(comment.Unlock), other}, ""},
		{"unlock into another branch, by a reader", []change{verb(comment.Unlock), other, may(github.ReadPermission)}, "NoPermission"},
		{"unlock into another branch, and a requirement is not met", []change{verb(comment.Unlock), other, required(rulings.Fails)}, "Required"},
		{"recover into another branch", []change{verb(comment.Recover), other}, "OtherBase"},
		{"merge into another branch", []change{merge, other}, "OtherBase"},
		{"plan into a branch that is named", []change{verb(comment.Plan), other, named}, ""},
		{"apply into a branch that is named", []change{other, named}, ""},
		{"a default branch that is not known", []change{func(q *Request) { q.Pull.DefaultBranch = "" }}, "OtherBase"},

		{"plan of another deployment's", []change{verb(comment.Plan), given}, "ServedElsewhere"},
		{"plan for a push of another deployment's", []change{push, given}, "ServedElsewhere"},
		{"apply of what was given to another deployment", []change{given}, "ServedElsewhere"},
		{"apply of what is a named deployment's", []change{given, func(q *Request) { q.Deployment = "ou-a" }}, ""},
		{"plan in shadow mode", []change{verb(comment.Plan), shadow}, "InShadow"},
		{"plan for a push in shadow mode", []change{push, shadow}, "InShadow"},
		{"plan that is only compared, in shadow mode", []change{push, shadow, compares}, ""},
		{"apply in shadow mode", []change{shadow}, "InShadow"},
		{"apply of a plan that is only compared", []change{shadow, compares}, "InShadow"},
		{"apply by the merge in shadow mode", []change{merge, shadow}, "InShadow"},
		{"recovery in shadow mode", []change{verb(comment.Recover), shadow}, "InShadow"},
		{"lock in shadow mode", []change{verb(comment.Lock), shadow}, "InShadow"},
		{"unlock in shadow mode", []change{verb(comment.Unlock), shadow}, ""},
		{"stop in shadow mode", []change{verb(comment.Stop), phase(runs.Applying), shadow}, ""},
		{"plan that is only compared, of a fork in shadow mode", []change{push, fork, shadow, compares}, "FromFork"},
		{"unlock of what was given to another deployment", []change{verb(comment.Unlock), given}, ""},
		{"plan when closed", []change{verb(comment.Plan), closed}, "NotOpen"},
		{"apply when closed", []change{closed}, "NotOpen"},
		{"plan after the merge", []change{verb(comment.Plan), mergedSince}, ""},
		{"plan after the merge, of what the merge did not apply", []change{verb(comment.Plan), mergedSince, onMerge, phase(runs.ApplyFailed)}, ""},
		{"plan for a push after the merge", []change{push, mergedSince}, "NotOpen"},
		{"check of a plan from after the merge", []change{push, mergedSince, after}, ""},
		{"check of a plan from after the merge, of a fork", []change{push, mergedSince, after, fork}, ""},
		{"check of a plan after the close that says it is from after the merge", []change{push, closed, after}, "NotOpen"},
		{"plan after the merge, by a reader", []change{verb(comment.Plan), mergedSince, may(github.ReadPermission)}, "NoPermission"},
		{"plan after the merge, of a fork", []change{verb(comment.Plan), mergedSince, fork}, ""},
		{"apply of what was merged, of a fork", []change{fork, mergedSince, after}, ""},
		{"apply of a fork's plan, after the merge", []change{fork, mergedSince}, "FromFork"},
		{"apply of a fork's commit that claims to be one after the merge", []change{fork, mergedSince, after, commit(headOne)}, "FromFork"},
		{"plan after the merge, while it is applied", []change{verb(comment.Plan), mergedSince, phase(runs.Applying)}, "BeingApplied"},
		{"lock after the merge", []change{verb(comment.Lock), mergedSince}, "NotOpen"},
		{"apply after the merge, of a plan from before", []change{mergedSince}, "NotOpen"},
		{"apply after the merge, of a plan from before, where the merge applies", []change{mergedSince, onMerge}, "NotOpen"},
		{"apply after the merge", []change{mergedSince, after}, ""},
		{"apply after the merge, where the merge applies", []change{mergedSince, after, onMerge}, ""},
		{"apply after the merge, by a reader", []change{mergedSince, after, may(github.ReadPermission)}, "NoPermission"},
		{"apply after the merge, of other files", []change{mergedSince, after, differ}, "InputsMoved"},
		{"apply after the merge, unseen", []change{mergedSince, after, hidden}, "PlanIsNewer"},
		{"apply after the close of a plan that says it is from after the merge", []change{closed, after}, "NotOpen"},
		{"plan on an issue", []change{verb(comment.Plan), onIssue(github.IssueOpen)}, ""},
		{"plan on an issue, by a reader", []change{verb(comment.Plan), onIssue(github.IssueOpen), may(github.ReadPermission)}, "NoPermission"},
		{"plan on a closed issue", []change{verb(comment.Plan), onIssue(github.IssueClosed)}, "IssueClosed"},
		{"apply on an issue", []change{onIssue(github.IssueOpen)}, ""},
		{"apply on an issue, where the merge applies", []change{onIssue(github.IssueOpen), onMerge}, ""},
		{"apply on an issue, by a reader", []change{onIssue(github.IssueOpen), may(github.ReadPermission)}, "NoPermission"},
		{"apply on an issue, of other files", []change{onIssue(github.IssueOpen), differ}, "InputsMoved"},
		{"apply on an issue, unseen", []change{onIssue(github.IssueOpen), hidden}, "PlanIsNewer"},
		{"apply on a closed issue", []change{onIssue(github.IssueClosed)}, "IssueClosed"},
		{"unlock on a closed issue", []change{verb(comment.Unlock), onIssue(github.IssueClosed)}, ""},
		{"unlock when closed", []change{verb(comment.Unlock), closed}, ""},

		{"apply without a plan", []change{phase(runs.New)}, "NoPlan"},
		{"apply while it is planned", []change{phase(runs.Planning)}, "BeingPlanned"},
		{"apply after planning failed", []change{phase(runs.PlanFailed)}, "PlanIsBad"},
		{"apply while it is applied", []change{phase(runs.Applying)}, "BeingApplied"},
		{"apply twice", []change{phase(runs.Applied)}, "AlreadyDone"},
		{"apply what the merge has applied", []change{phase(runs.Applied), onMerge, mergedSince}, "AlreadyDone"},
		{"apply what the merge has applied in part", []change{phase(runs.Applied), onMerge, mergedSince, options(grammar.Options{Targets: []string{"a.b"}})}, "NotOpen AlreadyDone"},
		{"apply what was to be applied on merge, applied and closed", []change{phase(runs.Applied), onMerge, closed}, "NotOpen AlreadyDone"},
		{"apply after an apply failed", []change{phase(runs.ApplyFailed)}, "ApplyBroken"},
		{"apply what was found stale", []change{phase(runs.Stale)}, "FoundStale"},
		{"apply what was closed and opened", []change{phase(runs.Dropped)}, "NoPlan"},
		{"apply no changes", []change{func(q *Request) { q.Run.Plan.Applyable = false }}, "NothingToDo"},
		{"apply no changes, where the merge applies", []change{onMerge, func(q *Request) { q.Run.Plan.Applyable = false }}, "NothingToDo"},
		{"plan while it is applied", []change{verb(comment.Plan), phase(runs.Applying)}, "BeingApplied"},
		{"plan for a push while it is applied", []change{push, phase(runs.Applying)}, "BeingApplied"},
		{"plan while it is planned", []change{verb(comment.Plan), phase(runs.Planning)}, ""},
		{"unlock while it is applied", []change{verb(comment.Unlock), phase(runs.Applying)}, "BeingApplied"},

		{"a comment older than the plan", []change{shown(time.Second)}, "PlanIsNewer"},
		{"a comment of the same second", []change{shown(0)}, "PlanIsNewer"},
		{"a comment younger than the plan", []change{shown(-time.Second)}, ""},
		{"a plan that was not shown", []change{hidden}, "PlanIsNewer"},
		{"a comment that nobody dates", []change{func(q *Request) { q.At = time.Time{} }}, "PlanIsNewer"},
		{"a comment that was decided about", []change{shown(time.Hour), func(q *Request) { q.Decided = true }}, ""},
		{"an old comment for a plan", []change{verb(comment.Plan), shown(time.Hour)}, ""},
		{"a merge of a plan that was not shown", []change{merge, hidden}, "PlanIsNewer"},
		{"a merge before the plan was shown", []change{merge, shown(time.Second)}, "PlanIsNewer"},
		{"a merge in the second in which the plan was shown", []change{merge, shown(0)}, "PlanIsNewer"},
		{"a merge after the plan was shown", []change{merge, shown(-time.Second)}, ""},
		{"a merge that nobody dates", []change{merge, func(q *Request) { q.At = time.Time{} }}, "PlanIsNewer"},
		{"a merge that was decided about", []change{merge, shown(time.Hour), func(q *Request) { q.Decided = true }}, ""},
		{"the plan by its name", []change{name(planHash[:7])}, ""},
		{"the plan by its whole name, before it was shown", []change{name(planHash), hidden}, ""},
		{"the plan by its name, in an old comment", []change{name(planHash[:7]), shown(time.Hour)}, ""},
		{"another plan by its name", []change{name("1234567")}, "OtherPlan"},
		{"another plan by its name, which is longer", []change{name(planHash + "0")}, "OtherPlan"},
		{"no plan by a name", []change{name("1234567"), made("")}, "OtherPlan SavedExchanged ShownExchanged"},

		{"a commit that is gone", []change{gone}, "CommitGone"},
		{"unlock of a commit that is gone", []change{verb(comment.Unlock), gone}, "CommitGone"},
		{"apply of files that a step has not generated", []change{ungenerated}, "StepFailed"},
		{"apply of what has no job", []change{unusable}, "Unusable"},
		{"unlock of what has no job", []change{verb(comment.Unlock), unusable}, "Unusable"},
		{"apply of what has no job, because the settings have errors", []change{unusable, broken}, "SettingsBroken"},
		{"the plan that was made again, shown on GitHub", []change{replaced(headTwo)}, ""},
		{"the plan that was made again, shown nowhere", []change{replaced("")}, "SavedExchanged"},
		{"an exchanged plan", []change{func(q *Request) { q.Saved = planHash[1:] + "0" }}, "SavedExchanged"},
		{"an exchanged record", []change{made(strings.Repeat("0", 64))}, "SavedExchanged ShownExchanged"},
		{"both exchanged", []change{made(strings.Repeat("0", 64)), func(q *Request) { q.Saved = q.Run.Plan.Hash }}, "ShownExchanged"},
		{"a record without a plan", []change{made(""), func(q *Request) { q.Saved, q.OnGitHub = "", new(string) }}, "ShownExchanged"},
		{"a check that shows no plan", []change{func(q *Request) { q.OnGitHub = new(string) }}, "ShownExchanged"},
		{"an exchanged plan, on merge", []change{merge, func(q *Request) { q.Saved = "x" }}, "SavedExchanged"},
		{"exchanged inputs", []change{func(q *Request) { q.Kept = "it was exchanged" }}, "KeptExchanged"},
		{"a plan that was not looked at yet", []change{func(q *Request) { q.Saved, q.OnGitHub = "", nil }}, ""},
		{"a push after the plan", []change{func(q *Request) { q.Pull.Head.SHA = headTwo }}, "HeadMoved"},
		{"another serial", []change{state(runs.StateID{Lineage: "l", Serial: 4, Version: "v4"})}, "StateMoved"},
		{"an older serial", []change{state(runs.StateID{Lineage: "l", Serial: 2, Version: "v2"})}, "StateMoved"},
		{"another lineage", []change{state(runs.StateID{Lineage: "m", Serial: 3, Version: "v3"})}, "StateMoved"},
		{"the same serial, other bytes", []change{state(runs.StateID{Lineage: "l", Serial: 3, Version: "v3b"})}, "StateMoved"},
		{"the state is gone", []change{state(runs.StateID{})}, "StateMoved"},
		{"a first plan, and now there is a state", []change{func(q *Request) { q.Run.Plan.State = runs.StateID{} }}, "StateMoved"},
		{"a first plan, and now there is an empty state", []change{func(q *Request) { q.Run.Plan.State = runs.StateID{} }, state(runs.StateID{Lineage: "l", Version: "v0"})}, "StateMoved"},
		{"a first plan, and still there is none", []change{func(q *Request) { q.Run.Plan.State = runs.StateID{} }, state(runs.StateID{})}, ""},

		{"another pull request was applied", []change{last(runs.LastApply{Number: 8})}, "OtherUnmerged"},
		{"it was settled since", []change{last(runs.LastApply{Number: 8, Settled: true})}, ""},
		{"it was this one", []change{last(runs.LastApply{Number: 7})}, ""},
		{"planning is free", []change{verb(comment.Plan), last(runs.LastApply{Number: 8})}, ""},

		{"a plan that nobody asked for", []change{renewed}, "PlanRenewed"},
		{"a plan that nobody asked for, by its name", []change{renewed, name(planHash[:7])}, ""},
		{"a plan that nobody asked for, which was decided about", []change{renewed, func(q *Request) { q.Decided = true }}, ""},
		{"a plan that nobody asked for, on merge", []change{merge, renewed, name(planHash[:7]), func(q *Request) { q.Decided = true }}, "PlanRenewed"},
		{"a plan that was checked", []change{func(q *Request) { q.Run.Plan.Checked = &runs.Checked{} }}, ""},

		{"somebody has locked the state for another one", []change{locked(runs.Reservation{Number: 8})}, "LockedByAnother"},
		{"somebody has locked it for this one", []change{locked(runs.Reservation{Number: 7})}, ""},
		{"the lock was lifted", []change{locked(runs.Reservation{Number: 8, Lifted: true})}, ""},
		{"merge of what is locked", []change{merge, locked(runs.Reservation{Number: 8})}, "LockedByAnother"},
		{"the rest of a stopped apply, locked since", []change{phase(runs.Stopped), locked(runs.Reservation{Number: 8})}, "LockedByAnother"},
		{"planned again, and locked", []change{again(true), locked(runs.Reservation{Number: 8})}, "LockedByAnother"},
		{"plan of what is locked", []change{verb(comment.Plan), locked(runs.Reservation{Number: 8})}, ""},
		{"unlock of what another one has locked", []change{verb(comment.Unlock), locked(runs.Reservation{Number: 8})}, ""},
		{"lock", []change{verb(comment.Lock)}, ""},
		{"lock by a reader", []change{verb(comment.Lock), may(github.ReadPermission)}, "NoPermission"},
		{"lock of a fork", []change{verb(comment.Lock), fork}, "FromFork"},
		{"lock into another branch", []change{verb(comment.Lock), other}, "OtherBase"},
		{"lock when closed", []change{verb(comment.Lock), closed}, "NotOpen"},
		{"lock while it is applied", []change{verb(comment.Lock), phase(runs.Applying)}, ""},
		{"lock of what is locked", []change{verb(comment.Lock), locked(runs.Reservation{Number: 8})}, "LockedByAnother"},
		{"lock again", []change{verb(comment.Lock), locked(runs.Reservation{Number: 7})}, ""},

		{"apply by comment of what the merge applies", []change{onMerge}, "AppliedLater"},
		{"apply by comment of another plan than the merge applies", []change{onMerge, renewed}, "AppliedLater"},
		{"apply by comment of what the merge applies, by another name", []change{onMerge, name("beef")}, "AppliedLater"},
		{"apply by comment of what the merge applies, not shown yet", []change{onMerge, hidden}, "AppliedLater"},
		{"apply by comment of what the merge does not apply", []change{onMerge, required(rulings.Fails)}, "AppliedLater Required"},
		{"plan of what the merge applies", []change{verb(comment.Plan), onMerge}, ""},
		{"merge", []change{merge}, ""},
		{"merge by a reader", []change{merge, may(github.ReadPermission)}, "NoPermission"},
		{"merge by a bot", []change{merge, may(github.NoPermission), func(q *Request) { q.Actor, q.Pull.MergedBy = "queue[bot]", "queue[bot]" }}, ""},
		{"merge that a bot only speaks of", []change{merge, may(github.NoPermission), func(q *Request) { q.Actor, q.Pull.MergedBy = "queue[bot]", "alice" }}, "NoPermission"},
		{"merge by a stranger", []change{merge, may(github.NoPermission), func(q *Request) { q.Pull.MergedBy = "alice" }}, "NoPermission"},
		{"apply by a bot that merged", []change{may(github.NoPermission), func(q *Request) { q.Actor, q.Pull.MergedBy = "queue[bot]", "queue[bot]" }}, "NoPermission"},
		{"merge of a fork", []change{merge, fork}, "FromFork"},
		{"merge that was none", []change{merge, func(q *Request) { q.Pull.Merged = false }}, "NotMerged"},
		{"merge of what comments apply", []change{merge, func(q *Request) { q.Run.Spec.ApplyOn = project.OnComment }}, "NotOnMerge"},
		{"merge of other files", []change{merge, differ}, "InputsMoved"},
		{"merge of another head", []change{merge, func(q *Request) { q.Pull.Head.SHA = headTwo }}, "HeadMoved"},
		{"merge on another state", []change{merge, state(runs.StateID{Lineage: "l", Serial: 4, Version: "v4"})}, "StateMoved"},
		{"merge before there is a plan", []change{merge, phase(runs.Planning)}, "BeingPlanned"},
		{"apply after another plan failed of an applied head", []change{phase(runs.PlanFailed), func(q *Request) { q.Run.Plan.Upheld, q.Run.Spec.Options.Targets = true, []string{"a.b"} }}, "PlanIsBad"},
		{"merge without a plan", []change{merge, phase(runs.PlanFailed)}, "PlanIsBad"},
		{"merge after another apply", []change{merge, last(runs.LastApply{Number: 8})}, "OtherUnmerged"},

		{"apply while it waits to be planned", []change{phase(runs.Queued)}, "BeingPlanned"},
		{"apply while it waits to be applied", []change{phase(runs.ApplyQueued)}, "BeingApplied"},
		{"apply of what the head does not touch", []change{phase(runs.Superseded)}, "NoPlan"},
		{"plan while it waits to be applied", []change{verb(comment.Plan), phase(runs.ApplyQueued)}, "BeingApplied"},
		{"plan while it waits to be planned", []change{verb(comment.Plan), phase(runs.Queued)}, ""},
		{"unlock while it waits to be applied", []change{verb(comment.Unlock), phase(runs.ApplyQueued)}, "BeingApplied"},
		{"plan of a conflict", []change{verb(comment.Plan), conflict}, "Conflicts"},
		{"apply of a conflict", []change{conflict}, "Conflicts"},
		{"unlock in a conflict", []change{verb(comment.Unlock), conflict}, ""},
		{"merge of a plan with -target", []change{merge, options(grammar.Options{Targets: []string{"a.b"}})}, "NotAll"},
		{"merge of a plan with -exclude", []change{merge, options(grammar.Options{Excludes: []string{"a.b"}})}, "NotAll"},
		{"merge of a plan with -destroy", []change{merge, options(grammar.Options{Destroy: true})}, "NotAll"},
		{"merge of a plan with -invoke", []change{merge, options(grammar.Options{Invoke: "action.a.b"})}, "NotAll"},
		{"merge of a plan with -refresh-only", []change{merge, options(grammar.Options{RefreshOnly: true})}, "NotAll"},
		{"merge of a plan with -refresh=false", []change{merge, options(grammar.Options{NoRefresh: true})}, ""},
		{"merge of a plan with -replace", []change{merge, options(grammar.Options{Replaces: []string{"a.b"}})}, ""},
		{"apply of a plan with -destroy", []change{options(grammar.Options{Destroy: true})}, ""},
		{"apply of a plan with -target", []change{options(grammar.Options{Targets: []string{"a.b"}})}, ""},
		{"apply of a removal", []change{removed}, ""},
		{"apply of a removal that does not stand", []change{restored}, "Restored"},
		{"the same after the merge", []change{mergedSince, after, restored}, "Restored"},
		{"plan of a removal that does not stand", []change{verb(comment.Plan), restored}, "Restored"},
		{"unlock of a removal that does not stand", []change{verb(comment.Unlock), restored}, ""},
		{"apply of a project that somebody else removes", []change{restored, func(q *Request) { q.Run.Spec.Removed = false }}, ""},
		{"modules moved", []change{modules}, "ModulesMoved"},
		{"state written, planned again", []change{state(runs.StateID{Lineage: "l", Serial: 4, Version: "v4"}), again(true)}, ""},
		{"state written, planned again, and different", []change{state(runs.StateID{Lineage: "l", Serial: 4, Version: "v4"}), again(false)}, "PlanDiffers"},
		{"a first state, planned again", []change{func(q *Request) { q.Run.Plan.State = runs.StateID{} }, again(true)}, ""},
		{"the same serial, planned again", []change{state(runs.StateID{Lineage: "l", Serial: 3, Version: "v3b"}), again(true)}, ""},
		{"another lineage, planned again", []change{state(runs.StateID{Lineage: "m", Serial: 3, Version: "v3"}), again(true)}, "StateMoved"},
		{"the state is gone, planned again", []change{state(runs.StateID{}), again(true)}, "StateMoved"},
		{"planned again of another state", []change{state(runs.StateID{Lineage: "l", Serial: 4, Version: "v4"}), again(true), func(q *Request) { q.Again.State = runs.StateID{Lineage: "l", Serial: 3, Version: "v3"} }}, "StateMoved"},
		{"planned again of no locked state", []change{again(true), func(q *Request) { q.State = nil }}, "StateMoved"},
		{"another head, planned again", []change{func(q *Request) { q.Pull.Head.SHA = headTwo }, again(true)}, "HeadMoved"},
		{"other files, planned again", []change{differ, again(true)}, "InputsMoved"},
		{"other modules, planned again", []change{modules, again(true)}, "ModulesMoved"},
		{"another saved plan, planned again", []change{func(q *Request) { q.Saved = headOne }, again(true)}, "SavedExchanged"},
		{"planned again by a reader", []change{again(true), may(github.ReadPermission)}, "NoPermission"},
		{"different and other files", []change{differ, again(false)}, "InputsMoved PlanDiffers"},
		{"files around", []change{func(q *Request) { q.Around = []string{"x"} }}, "OthersMoved"},
		{"files around, planned again", []change{func(q *Request) { q.Around = []string{"x"} }, again(true)}, ""},
		{"files around, where provisioners run", []change{func(q *Request) { q.Around, q.Provisioners = []string{"x"}, true }, again(true)}, "InputsMoved"},
		{"another provider", []change{func(q *Request) { q.Providers = "it is another one" }}, "ProvidersMoved"},
		{"another provider, planned again", []change{func(q *Request) { q.Providers = "it is another one" }, again(true)}, ""},
		{"by another version, planned again", []change{func(q *Request) { q.OtherVersion = true }, again(true)}, ""},
		{"parts of another hash", []change{func(q *Request) { q.Run.Plan.Parts = &runs.PlanParts{State: before, Saved: planHash} }}, "KeptExchanged"},
		{"parts of its hash", []change{whole}, ""},
		{"parts of another state", []change{whole, func(q *Request) { q.Run.Plan.State.Serial++; q.State = &q.Run.Plan.State }}, "KeptExchanged"},
		{"parts of other inputs", []change{whole, func(q *Request) { q.Run.Plan.Inputs = "x" }}, "KeptExchanged"},
		{"by another version", []change{func(q *Request) { q.OtherVersion = true }}, "OtherVersion"},
		{"merge, and modules moved", []change{merge, modules}, "ModulesMoved"},
		{"the base branch moved the files", []change{differ}, "InputsMoved"},
		{"the base branch broke its settings", []change{broken}, "SettingsBroken"},
		{"the base branch broke its settings, and moved the files", []change{broken, differ}, "SettingsBroken"},
		{"merge of broken settings", []change{merge, broken}, "SettingsBroken"},
		{"planning looks at no old settings", []change{verb(comment.Plan), broken}, ""},
		{"planning looks at no old files", []change{verb(comment.Plan), differ}, ""},

		{"other blocks", []change{blocks}, "ConfigMoved"},
		{"other blocks, planned again", []change{blocks, again(true)}, ""},
		{"other blocks, planned again and different", []change{blocks, again(false)}, "PlanDiffers"},
		{"other blocks, by the hash", []change{blocks, name(planHash[:12])}, "ConfigMoved"},
		{"other blocks and other files", []change{blocks, differ}, "InputsMoved"},
		{"merge, and other blocks", []change{merge, blocks}, "ConfigMoved"},

		{"a requirement that is not met", []change{required(rulings.Fails)}, "Required"},
		{"one of which nobody knows", []change{required(rulings.Unknown)}, "Required"},
		{"one that is met", []change{required(rulings.Holds)}, ""},
		{"one that is lifted", []change{required(rulings.Lifted)}, ""},
		{"one that is about something else", []change{required(rulings.NotApplicable)}, ""},
		{"merge, and a requirement is not met", []change{merge, required(rulings.Fails)}, "Required"},
		{"plan, and a requirement is not met", []change{verb(comment.Plan), required(rulings.Fails)}, "Required"},
		{"plan for a push, and a requirement is not met", []change{push, required(rulings.Fails)}, "Required"},
		{"unlock, and a requirement is not met", []change{verb(comment.Unlock), required(rulings.Fails)}, "Required"},
		{"recover, and a requirement is not met", []change{verb(comment.Recover), required(rulings.Unknown)}, "Required"},
		{"stop, and a requirement is not met", []change{verb(comment.Stop), required(rulings.Fails)}, "Required"},
		{"lock, and a requirement is not met", []change{verb(comment.Lock), required(rulings.Fails)}, "Required"},
		{"override, whatever is required", []change{verb(comment.Override), required(rulings.Fails)}, ""},
		{"a requirement that is not met, without a plan", []change{phase(runs.New), required(rulings.Fails)}, "NoPlan"},
		{"a requirement that is not met, planned again", []change{required(rulings.Fails), again(true)}, "Required"},

		{"a state under a new name", []change{placed(Placing{Kind: RenamedPlace, Owner: "old"})}, "PlaceRenamed"},
		{"plan of a state under a new name", []change{verb(comment.Plan), placed(Placing{Kind: RenamedPlace, Owner: "old"})}, ""},
		{"merge of a state under a new name", []change{merge, placed(Placing{Kind: RenamedPlace, Owner: "old"})}, "PlaceRenamed"},
		{"after the merge it has the name", []change{mergedSince, after, placed(Placing{Kind: SamePlace})}, ""},
		{"what another project has left", []change{destroying, placed(Placing{Kind: NewPlace, Former: "old"})}, "PlaceLeft"},
		{"merge over what another project has left", []change{merge, destroying, placed(Placing{Kind: NewPlace, Former: "old"})}, "PlaceLeft"},
		{"what another project has left, after the merge", []change{mergedSince, after, destroying, placed(Placing{Kind: SamePlace, Former: "old", LeftBy: 4})}, "PlaceLeft"},
		{"what another project has left, to be forgotten", []change{func(q *Request) { q.Run.Plan.Counts.Forget = 1 }, placed(Placing{Kind: NewPlace, Former: "old"})}, "PlaceLeft"},
		{"what another project has left, to be changed", []change{func(q *Request) { q.Run.Plan.Counts.Change = 1 }, placed(Placing{Kind: NewPlace, Former: "old"})}, ""},
		{"plan over what another project has left", []change{verb(comment.Plan), destroying, placed(Placing{Kind: NewPlace, Former: "old"})}, ""},
		{"what nobody has left", []change{destroying, placed(Placing{Kind: NewPlace})}, ""},
		{"a removal with a copy of its state", []change{removed, options(grammar.Options{Destroy: true}), copied}, "StateCopied"},
		{"a removal with a copy of its state, after the merge", []change{mergedSince, after, removed, options(grammar.Options{Destroy: true}), copied}, "StateCopied"},
		{"a removal with a copy of its state, planned again", []change{removed, options(grammar.Options{Destroy: true}), copied, again(true)}, "StateCopied"},
		{"plan of a removal with a copy of its state", []change{verb(comment.Plan), removed, copied}, ""},
		{"a first state in clear", []change{placed(Placing{Kind: NewPlace, InClear: true})}, "NotEncrypted"},
		{"plan of a first state in clear", []change{verb(comment.Plan), placed(Placing{Kind: NewPlace, InClear: true})}, ""},
		{"a state that is elsewhere by now", []change{elsewhere}, "PlaceMoved"},
		{"plan of a state that is elsewhere by now", []change{verb(comment.Plan), elsewhere}, ""},
		{"the rest of a stopped apply to a state that is elsewhere", []change{phase(runs.Stopped), elsewhere}, "PlaceMoved"},
		{"a state that is elsewhere, planned again", []change{elsewhere, again(true)}, "PlaceMoved"},
		{"no state that may be read", []change{placed(Placing{Reasons: reasons.List{reasons.PlaceUnknown{}}})}, "PlaceUnknown"},
		{"plan of no state that may be read", []change{verb(comment.Plan), placed(Placing{Reasons: reasons.List{reasons.PlaceUnknown{}}})}, "PlaceUnknown"},
		{"no state that may be read, under a new name", []change{placed(Placing{Kind: RenamedPlace, Reasons: reasons.List{reasons.PlaceUnknown{}}})}, "PlaceUnknown"},
		{"no state that may be read, and another head", []change{moved, placed(Placing{Reasons: reasons.List{reasons.PlaceUnknown{}}})}, "HeadMoved PlaceUnknown"},
		{"no state that a reader hears of", []change{may(github.ReadPermission), placed(Placing{Reasons: reasons.List{reasons.PlaceUnknown{}}})}, "NoPermission"},

		{"before one that it depends on", []change{inTurn("app:planned net:planned")}, "OutOfOrder"},
		{"after one that it depends on", []change{inTurn("app:planned net:applied")}, ""},
		{"behind one that is being applied", []change{inTurn("app:planned net:applying")}, "Awaits"},
		{"behind one whose apply has failed", []change{inTurn("app:planned net:apply-failed")}, "OutOfOrder"},
		{"by its hash, before one that it depends on", []change{inTurn("app:planned net:planned"), name(planHash[:7])}, "OutOfOrder"},
		{"merge, before one that it depends on", []change{merge, inTurn("app:planned net:planned")}, "OutOfOrder"},
		{"after the merge, before one that it depends on", []change{mergedSince, after, inTurn("app:planned net:planned")}, "OutOfOrder"},
		{"before one that it depends on, and locked", []change{inTurn("app:planned net:planned"), locked(runs.Reservation{Number: 8})}, "LockedByAnother OutOfOrder"},
		{"before one that it depends on, planned again", []change{inTurn("app:planned net:planned"), again(true)}, "OutOfOrder"},
		{"plan before one that it depends on", []change{verb(comment.Plan), inTurn("app:planned net:planned")}, ""},
		{"unlock before one that it depends on", []change{verb(comment.Unlock), inTurn("app:planned net:planned")}, ""},
		{"what waits for its turn, applied once more", []change{waiting}, "BeingApplied"},
		{"plan of what waits for its turn", []change{verb(comment.Plan), waiting}, ""},
		{"merge of what waits for its turn", []change{merge, waiting}, "BeingApplied"},

		{"planned with the outputs of a plan", []change{foreseen}, "OutputsPlanned"},
		{"planned with the outputs of a plan, planned again", []change{foreseen, again(true)}, ""},
		{"planned with the outputs of a plan, and different", []change{foreseen, again(false)}, "PlanDiffers"},
		{"planned with the outputs of a plan, the state not looked at yet", []change{foreseen, unlocked}, ""},
		{"merge of what is planned with the outputs of a plan", []change{merge, foreseen}, "OutputsPlanned"},
		{"outputs of what was applied since", []change{reads(2)}, "OutputsMoved"},
		{"outputs of what was applied since, planned again", []change{reads(2), again(true)}, ""},
		{"outputs of what was applied since, and different", []change{reads(2), again(false)}, "PlanDiffers"},
		{"outputs of what was not applied since", []change{reads(1)}, ""},
		{"outputs of what was applied since, and another head", []change{reads(2), moved, again(true)}, "HeadMoved"},

		{"after the merge, locked for another one", []change{mergedSince, after, locked(runs.Reservation{Number: 8})}, "LockedByAnother"},
		{"after the merge, another one was applied", []change{mergedSince, after, last(runs.LastApply{Number: 8})}, "OtherUnmerged"},
		{"after the merge, and finished by another pull request", []change{mergedSince, after, func(q *Request) { q.Run.End.FinishedBy = 8 }}, "AlreadyDone"},
		{"the same, of a plan that the merge has dropped", []change{mergedSince, phase(runs.Dropped), func(q *Request) { q.Run.End.FinishedBy = 8 }}, "AlreadyDone"},
		{"after the merge, a requirement is not met", []change{mergedSince, after, required(rulings.Fails)}, "Required"},
		{"after the merge, the state was written", []change{mergedSince, after, state(runs.StateID{Lineage: "l", Serial: 4, Version: "v4"})}, "StateMoved"},
		{"after the merge, the state was written, planned again", []change{mergedSince, after, state(runs.StateID{Lineage: "l", Serial: 4, Version: "v4"}), again(true)}, ""},
		{"after the merge, planned again and different", []change{mergedSince, after, blocks, again(false)}, "PlanDiffers"},
		{"after the merge, of another deployment's", []change{mergedSince, after, given}, "ServedElsewhere"},
		{"after the merge, of a removal", []change{mergedSince, after, removed}, ""},
		{"after the merge, by the name of the plan, before it was shown", []change{mergedSince, after, hidden, name(planHash)}, ""},
		{"after the merge, by the name of another plan", []change{mergedSince, after, name("1234567")}, "OtherPlan"},
		{"after the merge, of what failed", []change{mergedSince, after, phase(runs.ApplyFailed)}, "ApplyBroken"},
		{"after the merge, the rest of a stopped apply", []change{mergedSince, after, phase(runs.Stopped)}, ""},
		{"after the merge, a plan that nobody asked for", []change{mergedSince, after, renewed}, "PlanRenewed"},
		{"after the merge, an exchanged plan", []change{mergedSince, after, func(q *Request) { q.Saved = "x" }}, "SavedExchanged"},
		{"after the merge, into another branch", []change{mergedSince, after, other}, "OtherBase"},

		{"merge by the queue", []change{merge, queue}, ""},
		{"merge by the queue, and a requirement is not met", []change{merge, queue, required(rulings.Unknown)}, "Required"},
		{"apply by the queue's bot", []change{queue}, "NoPermission"},
		{"merge in a conflict with the base branch", []change{merge, conflict}, "Conflicts"},
		{"merge of another head whose plan was not shown", []change{merge, moved, hidden}, "HeadMoved PlanIsNewer"},
		{"merge of a plan with -target that was not shown", []change{merge, hidden, options(grammar.Options{Targets: []string{"a.b"}})}, "NotAll"},
		{"merge of a plan with -destroy of another head", []change{merge, moved, options(grammar.Options{Destroy: true})}, "NotAll HeadMoved"},
		{"merge of the rest of a stopped apply", []change{merge, phase(runs.Stopped)}, ""},
		{"merge after an apply failed", []change{merge, phase(runs.ApplyFailed)}, "ApplyBroken"},
		{"merge of what is applied", []change{merge, phase(runs.Applied)}, "AlreadyDone"},
		{"merge of what was found stale", []change{merge, phase(runs.Stale)}, "FoundStale"},
		{"merge of what the head does not touch", []change{merge, phase(runs.Superseded)}, "NoPlan"},
		{"merge of no changes", []change{merge, func(q *Request) { q.Run.Plan.Applyable = false }}, "NothingToDo"},
		{"merge of another deployment's", []change{merge, given}, "ServedElsewhere"},
		{"merge of a removal that does not stand", []change{merge, restored}, "Restored NotAll"},
		{"merge, planned again and different", []change{merge, blocks, again(false)}, "PlanDiffers"},

		{"the rest of a stopped apply, another one applied since", []change{phase(runs.Stopped), last(runs.LastApply{Number: 8})}, "OtherUnmerged"},
		{"the rest of a stopped apply, where the merge applies", []change{phase(runs.Stopped), onMerge}, "AppliedLater"},
		{"the rest of a stopped apply, a requirement is not met", []change{phase(runs.Stopped), required(rulings.Fails)}, "Required"},
		{"the rest of a stopped apply, pushed since", []change{phase(runs.Stopped), moved}, "HeadMoved"},
		{"the rest of a stopped apply, when closed", []change{phase(runs.Stopped), closed}, "NotOpen"},
		{"the rest of a stopped apply, unseen", []change{phase(runs.Stopped), hidden}, "PlanIsNewer"},
		{"the rest of a stopped apply, nothing of which is left", []change{phase(runs.Stopped), func(q *Request) { q.Run.Plan.Applyable = false }}, "NothingToDo"},

		{"plan of a named commit of a fork when closed", []change{verb(comment.Plan), forks, commit(headOne), closed}, "NotOpen"},
		{"plan of a named commit of a fork in a conflict", []change{verb(comment.Plan), forks, commit(headOne), conflict}, "Conflicts"},
		{"plan of a named commit of a fork of another deployment's", []change{verb(comment.Plan), forks, commit(headOne), given}, "ServedElsewhere"},
		{"plan of a named commit of a fork, and a requirement is not met", []change{verb(comment.Plan), forks, commit(headOne), required(rulings.Fails)}, "Required"},
		{"plan of a named commit of a fork by a reader", []change{verb(comment.Plan), forks, commit(headOne), may(github.ReadPermission)}, "NoPermission"},
		{"plan of another commit of a fork into another branch", []change{verb(comment.Plan), forks, commit(headTwo), other}, "OtherCommit OtherBase"},

		{"all that a plan made again settles", []change{provider, version, around, blocks, state(runs.StateID{Lineage: "l", Serial: 4, Version: "v4"})}, "ConfigMoved OthersMoved ProvidersMoved OtherVersion StateMoved"},
		{"all that a plan made again settles, once it is the same", []change{provider, version, around, blocks, state(runs.StateID{Lineage: "l", Serial: 4, Version: "v4"}), again(true)}, ""},
		{"all that a plan made again settles, once it is not", []change{provider, version, around, blocks, state(runs.StateID{Lineage: "l", Serial: 4, Version: "v4"}), again(false)}, "PlanDiffers"},
		{"what it settles, and what it does not", []change{provider, modules, again(true)}, "ModulesMoved"},
		{"different, and of an exchanged record", []change{again(false), made(strings.Repeat("0", 64))}, "SavedExchanged ShownExchanged PlanDiffers"},
		{"different, and in a conflict", []change{conflict, again(false)}, "Conflicts PlanDiffers"},
		{"the same, and a requirement is lifted", []change{blocks, again(true), required(rulings.Lifted)}, ""},
		{"the same, of no plan", []change{phase(runs.New), again(true)}, "NoPlan"},
		{"a reader hears nothing of a difference", []change{may(github.ReadPermission), again(false)}, "NoPermission"},

		{"locked, and another one was applied", []change{last(runs.LastApply{Number: 8}), locked(runs.Reservation{Number: 8})}, "OtherUnmerged LockedByAnother"},
		{"locked, applied and not required", []change{last(runs.LastApply{Number: 8}), locked(runs.Reservation{Number: 9}), required(rulings.Fails)}, "OtherUnmerged LockedByAnother Required"},
		{"unseen, and nobody asked for it", []change{hidden, renewed}, "PlanIsNewer PlanRenewed"},
		{"another one by its name, and nobody asked for it", []change{renewed, name("1234567")}, "OtherPlan"},
		{"unseen, of another head", []change{moved, shown(time.Second)}, "HeadMoved PlanIsNewer"},
		{"another deployment's, when closed", []change{given, closed}, "ServedElsewhere NotOpen"},
		{"plan of another deployment's, when closed", []change{verb(comment.Plan), given, closed}, "ServedElsewhere NotOpen"},
		{"plan in a conflict, while it is applied", []change{verb(comment.Plan), conflict, phase(runs.Applying)}, "BeingApplied Conflicts"},
		{"plan of another commit, when closed", []change{verb(comment.Plan), commit(headTwo), closed}, "OtherCommit"},
		{"recover while it waits to be applied", []change{verb(comment.Recover), phase(runs.ApplyQueued)}, "BeingApplied"},
		{"unlock of what goes on", []change{verb(comment.Unlock), phase(runs.Continuing)}, "BeingApplied"},
		{"unlock while it is applied, and a requirement is not met", []change{verb(comment.Unlock), phase(runs.Applying), required(rulings.Fails)}, "BeingApplied Required"},
		{"stop of what goes on", []change{verb(comment.Stop), phase(runs.Continuing)}, ""},
		{"lock of another deployment's", []change{verb(comment.Lock), given}, ""},
		{"lock of what another one has locked, when closed", []change{verb(comment.Lock), closed, locked(runs.Reservation{Number: 8})}, "NotOpen LockedByAnother"},
		{"override", []change{verb(comment.Override)}, ""},
		{"override by a reader", []change{verb(comment.Override), may(github.ReadPermission)}, "NoPermission"},
		{"override into another branch", []change{verb(comment.Override), other}, "OtherBase"},
		{"override, whatever is required", []change{verb(comment.Override), required(rulings.Fails)}, ""},
		{"retry by a reader", []change{verb(comment.Retry), may(github.ReadPermission)}, "NoPermission"},

		{"several things at once", []change{closed, func(q *Request) { q.Pull.Head.SHA = headTwo }, state(runs.StateID{}), last(runs.LastApply{Number: 8})},
			"NotOpen HeadMoved OtherUnmerged StateMoved"},
	}
	for _, v := range granted {
		row := tests[0]
		row.name, row.changes, row.want = string(v)+" of what goes into another branch", []change{verb(v), other}, "OtherBase"
		tests = append(tests, row)
	}
	silent := listening(t)
	for _, test := range tests {
		q := allowed()
		for _, c := range test.changes {
			c(&q)
		}
		d := Decide(q)
		if got := types(d); got != test.want {
			t.Errorf("%s: %s, want %s", test.name, got, test.want)
		}
		if d.Allowed() != (test.want == "") {
			t.Errorf("%s: allowed %v", test.name, d.Allowed())
		}
		// What is not in comment's table has no words, and cannot be kept.
		if _, err := json.Marshal(d.Reasons); err != nil {
			t.Errorf("%s: %v", test.name, err)
		}
	}
	for _, name := range silent() {
		t.Errorf("the rule %s refuses no row", name)
	}
	if len(tests) < 300 {
		t.Errorf("%d rows", len(tests))
	}
}

// listening has the rules of the gate heard until the end of the test. It returns the names of those that have refused nothing, for
// each command that they are about beside those of all commands.
func listening(t *testing.T) (silent func() []string) {
	was, heard := slices.Clone(rules), map[string]bool{}
	nameOf := func(i int, v comment.Verb) string {
		_, name, _ := strings.Cut(filepath.Ext(runtime.FuncForPC(reflect.ValueOf(was[i].no).Pointer()).Name()), ".")
		if len(was[i].verbs) == len(everything) {
			return name
		}
		return name + " of " + string(v)
	}
	for i := range rules {
		rules[i].no = func(q *Request) reasons.Reason {
			no := was[i].no(q)
			if no != nil {
				heard[nameOf(i, q.Verb)] = true
			}
			return no
		}
	}
	t.Cleanup(func() { copy(rules, was) })
	return func() (out []string) {
		for i, r := range was {
			for _, v := range r.verbs {
				if name := nameOf(i, v); !heard[name] && !slices.Contains(out, name) {
					out = append(out, name)
				}
			}
		}
		return out
	}
}

// types names the types of a decision's reasons.
func types(d Decision) string {
	var names []string
	for _, r := range d.Reasons {
		names = append(names, strings.TrimPrefix(fmt.Sprintf("%T", r), "reasons."))
	}
	return strings.Join(names, " ")
}

// TestGateFacts holds the facts of reasons.
func TestGateFacts(t *testing.T) {
	t.Parallel()
	empty := ""
	settled := runs.LastApply{Number: 8, By: "carol", State: runs.StateID{Lineage: "l", Serial: 5, Version: "v5"}, Settled: true}
	later := settled
	later.State.Serial = 4
	merge := func(q *Request) {
		q.Entry, q.Pull.Open, q.Pull.Merged, q.Run.Spec.ApplyOn = ByMerge, false, true, project.OnMerge
	}
	for _, test := range []struct {
		name   string
		change func(*Request)
		want   reasons.Reason
	}{
		{"the apply that wrote the state", func(q *Request) { q.State, q.Last = &settled.State, &settled }, reasons.StateMoved{Change: reasons.SerialMoved, Was: 3, Is: 5, By: "carol", Number: 8}},
		{"an apply before somebody else wrote it", func(q *Request) { q.State, q.Last = &settled.State, &later }, reasons.StateMoved{Change: reasons.SerialMoved, Was: 3, Is: 5}},
		{"a state that is gone", func(q *Request) { q.State = &runs.StateID{} }, reasons.StateMoved{Change: reasons.StateGone, Was: 3}},
		{"another lineage", func(q *Request) { q.State = &runs.StateID{Lineage: "m", Serial: 3, Version: "v3"} }, reasons.StateMoved{Change: reasons.StateReplaced, Was: 3, Is: 3}},
		{"other bytes", func(q *Request) { q.State = &runs.StateID{Lineage: "l", Serial: 3, Version: "v3b"} }, reasons.StateMoved{Change: reasons.SameSerial, Was: 3, Is: 3}},
		{"a first state", func(q *Request) { q.Run.Plan.State = runs.StateID{} }, reasons.StateMoved{Change: reasons.StateCreated, Is: 3}},
		{"the project's own files first", func(q *Request) { q.Run.Spec.Dir, q.Differ = "net", []string{"a.tf", "net/b.tf", "c.tf", "net/d.tf"} }, reasons.InputsMoved{Files: reasons.SomeOf([]string{"net/b.tf", "net/d.tf", "a.tf", "c.tf"})}},
		{"of the root all are its own", func(q *Request) { q.Run.Spec.Dir, q.Differ = ".", []string{"net/b.tf", "a.tf"} }, reasons.InputsMoved{Files: reasons.SomeOf([]string{"net/b.tf", "a.tf"})}},
		{"other files in a merge", func(q *Request) { merge(q); q.Differ, q.Whole = []string{"a.tf"}, true }, reasons.InputsMoved{Files: reasons.SomeOf([]string{"a.tf"}), Whole: true, Merged: true}},
		{"a check without a plan", func(q *Request) { q.OnGitHub = &empty }, reasons.ShownExchanged{Check: "lockstep/net@", Made: planHash}},
		{"applied already", func(q *Request) { q.Run.Phase = runs.Applied }, reasons.AlreadyDone{Head: headOne, By: "bob"}},
		{"a login", func(q *Request) { q.Permission = github.ReadPermission }, reasons.NoPermission{Login: "alice", Has: "read", Needs: "write"}},
		{"a plan never shown", func(q *Request) { q.Shown = time.Time{} }, reasons.PlanIsNewer{Project: "net", Plan: planHash}},
		{"a plan shown later", func(q *Request) { q.Shown = q.At }, reasons.PlanIsNewer{Project: "net", Plan: planHash, Shown: true}},
		{"a plan shown after the merge", func(q *Request) { merge(q); q.Shown = q.At }, reasons.PlanIsNewer{Project: "net", Plan: planHash, Shown: true, Merged: true}},
	} {
		q := allowed()
		test.change(&q)
		if diff := cmp.Diff(reasons.List{test.want}, Decide(q).Reasons); diff != "" {
			t.Errorf("%s: %s", test.name, diff)
		}
	}
}

// TestStale holds which refusals put an end to a plan.
func TestStale(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		reason reasons.Reason
		want   bool
	}{
		{reasons.HeadMoved{}, true}, {reasons.PlaceMoved{}, true}, {reasons.KeptExchanged{Problem: "x"}, true}, {reasons.CommitGone{}, true},
		{reasons.NotOpen{}, false}, {reasons.NoPermission{}, false}, {reasons.OtherUnmerged{}, false}, {reasons.PlanIsNewer{}, false},
		{reasons.Unavailable{}, false}, {reasons.PlaceTaken{}, false},
	} {
		if got := Refusal(test.reason).Stale(); got != test.want {
			t.Errorf("%T: %v", test.reason, got)
		}
	}
	if reasons.SettingsFile != project.FileName {
		t.Errorf("people read of %s", reasons.SettingsFile)
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
			Decide(q)
		}()
	}
}
