package runs

import (
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/lockstep-iac/lockstep/functions/comment"
	"github.com/lockstep-iac/lockstep/functions/comment/grammar"
	"github.com/lockstep-iac/lockstep/functions/comment/reasons"
	"github.com/lockstep-iac/lockstep/functions/pipeline"
	"github.com/lockstep-iac/lockstep/functions/places"
	"github.com/lockstep-iac/lockstep/functions/project"
	"github.com/lockstep-iac/lockstep/github"
)

// A Run is the record of one project of one pull request: what to plan, who requested it, and what happened. A
// new plan begins with a new [Spec] and with an empty [Plan] and [Apply]. The other fields are kept.
type Run struct {
	ID
	Phase Phase
	// Slot is the number of the project among all that the pull request has had, from 1. It never changes. It is 0 in
	// records of earlier versions.
	Slot int `json:",omitempty"`
	// Spec is the task of the last plan. Asked says who requested that plan and the last apply.
	Spec  Spec
	Asked Asked
	// Address has the addresses of the plan's state. Plan is the result of planning, and Apply the result of
	// applying.
	Address Address `json:",omitzero"`
	Plan    Plan    `json:",omitzero"`
	Apply   Apply   `json:",omitzero"`
	// End says how the run, its last plan or its last apply ended. Artifacts numbers the run's files.
	End       End `json:",omitzero"`
	Artifacts Artifacts
	// Kept is the plan to which the run returns if the requested plan is not made; nil for none.
	Kept *Kept `json:",omitempty"`
	// History has the outcomes of earlier plans, the oldest first: at most the last maxHistory.
	History []comment.Past `json:",omitempty"`
}

// An ID names a run. It never changes.
type ID struct {
	Pull      pipeline.Pull
	Project   string
	Workspace string
}

// A Spec says what is planned.
type Spec struct {
	Dir      string
	VarFiles []string `json:",omitempty"`
	// Environment is the environment that the head names for the project; it grants nothing. Deployment is the
	// name of the deployment that planned the project.
	Environment string `json:",omitempty"`
	Deployment  string `json:",omitempty"`
	// ApplyOn says whether a comment or the merge applies the plan, by the settings of the base branch.
	ApplyOn project.ApplyOn
	// Head is the planned commit, Base the tip of the base branch at that time, and Merge their trial merge,
	// which is checked out.
	Head, Base, Merge string
	// BaseRef is the name of the branch whose tip was Base. It is set only for a Removed run.
	BaseRef string `json:",omitempty"`
	// Named is the commit of a fork that somebody named in a command. It is planned without credentials, and
	// never applied. Named is "" for all other plans.
	Named string `json:",omitempty"`
	// AfterMerge is set for a plan that was requested after the merge, for merged changes that are not applied.
	// Base and Merge are then the same commit of the base branch.
	AfterMerge bool `json:",omitempty"`
	// Removed is set for a project that the pull request removes. The plan destroys its objects, with the
	// configuration from the base branch. Base and Merge are then the same commit of the base branch.
	Removed bool `json:",omitempty"`
	// Twin is set if another project of the pull request has the same name in another workspace, and one of the
	// two is Removed.
	Twin bool `json:",omitempty"`
	// Beside is set for a project that the pull request does not change. A command named the project.
	Beside bool `json:",omitempty"`
	// OnIssue is set for a plan that was requested on an issue. AfterMerge is then set, too.
	OnIssue bool `json:",omitempty"`
	// Options are the options of the plan.
	Options grammar.Options `json:",omitzero"`
	// Test is set if the tests of the project run with the plan, by the settings of the base branch.
	Test bool `json:",omitempty"`
	// Ordered is set if any project of the head depends on another one.
	Ordered bool `json:",omitempty"`
	// Shared names the check run that the project shares with others at Head. It never changes at one head.
	Shared Shared `json:",omitzero"`
}

// Asked says who requested a run's last plan and last apply, and with which message.
type Asked struct {
	// Attempt counts the requested plans, and Try the requested applies.
	Attempt, Try int
	// ThenApply is the number (the Try) of an apply that was requested together with the plan, or that waits; 0
	// for none.
	ThenApply int `json:",omitempty"`
	// Waits is an apply that waits for the applies of other projects; nil for none.
	Waits *Waiting `json:",omitempty"`
	// Late is set for an apply that the merge requested and that waits, or has waited, for requirements. Its
	// requirements come from the base branch at the time of the apply, as for a plan after the merge.
	Late bool `json:",omitempty"`
	// Retry is set if the plan was requested because the last plan or its apply had failed.
	Retry bool `json:",omitempty"`
	// After are the projects whose plans this Queued run waits for; nil for none.
	After []string `json:",omitempty"`
	// PlanFor and ApplyFor are the events that requested the last plan and the last apply. By is the login of
	// the user behind the later event, "" for a push. Answer names the answer that waits for the result, ""
	// for none. PlanLine is the index of the comment's line that requested the plan.
	PlanFor  string
	PlanLine int    `json:",omitempty"`
	ApplyFor string `json:",omitempty"`
	By       string `json:",omitempty"`
	Answer   string `json:",omitempty"`
	// Missed is set if the message for the plan was handled while the pull request was closed. The plan then
	// needs a new message.
	Missed bool `json:",omitempty"`
	// Into is the name of the base branch for which the last apply was requested.
	Into string `json:",omitempty"`
	// Quiet is set for one of many plans of a push or command. Its check run is created only once it is
	// planned, and comments are written for several plans at once. That is because GitHub limits an
	// installation to 80 such writes a minute, and 500 an hour.
	//
	// Source:
	// https://docs.github.com/en/rest/using-the-rest-api/rate-limits-for-the-rest-api#about-secondary-rate-limits
	Quiet bool `json:",omitempty"`
	// Crowd is the number of plans of the repository that were queued before this plan and delay it.
	Crowd int `json:",omitempty"`
}

// An Address has the address of the state of a run's plan, and the other addresses of the same state.
type Address struct {
	// Owner is the project to which the base branch gives the state, if the project has another name there; ""
	// if not. If it is set, the plan can be applied only after the merge.
	Owner string `json:",omitempty"`
	// Place is the address of the state in the plan, by places.Place.String; "" in records without an address.
	Place string `json:",omitempty"`
	// From is where the base branch has or had the state, if the plan moves it to Place. Before are the state's earlier
	// addresses on the base branch. Applies and locks of others at these addresses concern the same objects.
	// Were are former addresses in this run: the pull request may have an apply or a lock there.
	From         string   `json:",omitempty"`
	Before, Were []string `json:",omitempty"`
}

// A Plan is the result of planning a [Spec]. It is empty until the spec is planned.
type Plan struct {
	// State is the state that the plan was made from. Inputs is the hash of the plan's input files.
	State  StateID
	Inputs string
	// PlanSummary has the hash of the Parts. For its field Upheld, see [KeepsOutcome].
	comment.PlanSummary
	// Content is the part of the plan that requirements can depend on.
	Content *Content `json:",omitempty"`
	// Judged is Content with the verdicts of policies and gates that refused the last apply; nil if none did.
	// Judged is only shown to people: the next apply gets new verdicts.
	Judged *Content `json:",omitempty"`
	// Parts are what the plan depends on. Reported is the hash of its report: see [HashOf].
	Parts    *PlanParts `json:",omitempty"`
	Reported string     `json:",omitempty"`
	// Seal proves that Lockstep has made the plan; it is zero in records of earlier versions.
	Seal PlanSeal `json:",omitzero"`
	// Settled are the reasons for which the plan was made again, if Again has the new plan.
	Settled reasons.List `json:",omitempty"`
	// Replaced is the number of the last plan that replaced another plan at the same head; 0 for none. An
	// approval that is older than the time when that plan was shown counts for the replaced plan only.
	Replaced int `json:",omitempty"`
	// Applies is the number of applies to the state before the plan: see [LastApply.CountFor]. Checked is the
	// last check of the plan after another apply; nil if there was none.
	Applies int      `json:",omitempty"`
	Checked *Checked `json:",omitempty"`
	// Reads has, for each project that the plan depends on, the number of applies to its state when the plan was made.
	// The keys are targets. If such a number is higher now, the plan is out of date.
	Reads map[string]int `json:",omitempty"`
	// Failure has the inputs of a failed plan; nil if the plan succeeded or was not begun. Lockstep plans the project
	// again by itself only if Failure is set.
	Failure *Failure `json:",omitempty"`
	// Full is set if the report is shortened and an artifact has the full text.
	Full bool `json:",omitempty"`
	// Steps is the hash of the artifact with the outcomes of the plan's steps; "" if there are none.
	Steps string `json:",omitempty"`
	// StepOutputs is set if an artifact has the outputs of the plan's steps.
	StepOutputs bool `json:",omitempty"`
	// Findings is set if an artifact has findings of the plan's steps.
	Findings bool `json:",omitempty"`
	// Generated is set if an artifact has configuration that the plan's steps have generated.
	Generated bool `json:",omitempty"`
	// Idle is set, in addition to Upheld, if the head had nothing to apply.
	Idle bool `json:",omitempty"`
	// Deploys is the GitHub environment in which applies of the plan are recorded as deployments; "" for none.
	Deploys string `json:",omitempty"`
}

// An Apply is the result of applying a [Plan]. It is empty until the plan is applied.
type Apply struct {
	comment.ApplySummary
	// Part is set if the plan was applied only in part, so that only its rest can still be applied.
	Part bool `json:",omitempty"`
	// Hooks are the answers of the hooks before and after the last apply.
	Hooks []reasons.Hooked `json:",omitempty"`
}

// An End says what ended a run, or its last plan or apply.
type End struct {
	// Fate says how the pull request of a Dropped run ended. For a Superseded run whose project the base branch
	// has removed, Fate is [Gone]; for all other runs it is "". Was is the phase of a Dropped run before it was
	// dropped.
	Fate Fate  `json:",omitempty"`
	Was  Phase `json:",omitempty"`
	// Differs is set for a Dropped run whose plan has no changes, if the merge has other files than the plan
	// was made from.
	Differs bool `json:",omitempty"`
	// GoneAt is the tip of the base branch at which Lockstep last searched for a [Gone] project. It is ""
	// before the first search.
	GoneAt string `json:",omitempty"`
	// EndSummary has the new name of a project that the base branch has renamed: see [project.Successor]. The
	// run is Superseded once the project is planned under that name.
	comment.EndSummary
}

// Artifacts numbers the plans of a run. The numbers are part of the names of the run's files.
type Artifacts struct {
	// Begun counts the plans that were begun.
	Begun int
	// Reserved is the highest number of a plan that was begun while the run kept another plan; 0 for none. See
	// [Run.NextBegun].
	Reserved int `json:",omitempty"`
	// Swept is the highest Begun whose artifacts are deleted.
	Swept int
	// Steps is set if an artifact has the outputs of the steps of an apply: see [Run.ApplyStepOutputs].
	Steps bool `json:",omitempty"`
}

// RemovedByBase returns the run of a project that the base branch has removed. ok is false if the run stays as
// it is. That is so if its apply is queued or in progress, or has changed something.
func RemovedByBase(r Run) (gone Run, ok bool) {
	phase := r.Phase
	if phase == Dropped && r.End.Fate == Merged {
		phase = r.End.Was
	}
	if phase != Planned && phase != PlanFailed && phase != Stale {
		return r, false
	}
	gone = r.To(Superseded)
	gone.End.Fate = Gone
	return gone, true
}

// Conflicting returns the run with its plan out of date, because the head conflicts with the base branch. ok is
// false if the run stays as it is, because it has no plan of this head that waits for people.
func Conflicting(r Run, head string) (stale Run, ok bool) {
	if r.Phase != Planned || r.Spec.Head != head || r.Spec.AfterMerge || r.coming() || Preview(r) {
		return r, false
	}
	return r.To(Stale), true
}

// NextBegun returns the number of the next plan. The number is new, so no two processes write the same
// artifacts.
func (r Run) NextBegun() int { return r.HighestNumber() + 1 }

// HighestNumber returns the highest number that artifacts of the run may have in their names.
func (r Run) HighestNumber() int { return max(r.Artifacts.Begun, r.Artifacts.Reserved) }

// To moves the run to another phase. To panics if the step is not allowed: that is a bug of Lockstep.
func (r Run) To(next Phase) Run {
	if !r.Phase.May(next) {
		panic(fmt.Sprintf("runs: %s of %s#%d cannot go from %q to %q", r.Project, r.Pull.Repo, r.Pull.Number, r.Phase, next))
	}
	r.Phase, r.End = next, End{EndSummary: comment.EndSummary{Renamed: r.End.Renamed, FinishedBy: r.End.FinishedBy, StoppedBy: r.End.StoppedBy}}
	if next != ApplyQueued {
		r.Asked.Waits = nil
	}
	r.Asked.After = nil
	if next == Queued {
		r.Plan.Failure, r.End = nil, End{}
	}
	if !next.UnderWay() && next != Planned {
		r.Asked.Late = false
	}
	if next == Planned && !r.Spec.Options.KeepsObjects() { // From now on, the plan is the plan of the head.
		r.Plan.Upheld, r.Plan.Idle = false, false
	}
	switch next {
	case Queued, Applied, ApplyFailed:
		r.Apply.Part, r.Apply.Progress = false, comment.Progress{}
	case Stopped:
		r.Apply.Part = true
	}
	return r
}

// Queue returns the run in phase Queued, with a new plan requested. The run keeps the numbers of its last plan
// and apply, the other addresses of the state, and the last event that requested an apply. The outcome of the last
// plan goes to the history. at is the time of the request.
func (r Run) Queue(spec Spec, asked Asked, at time.Time) Run {
	r.History, r.Kept = r.outcomes(at), r.keeps(spec)
	asked.Attempt, asked.Try, asked.ApplyFor, asked.Into = r.Asked.Attempt+1, r.Asked.Try, r.Asked.ApplyFor, r.Asked.Into
	was := r.Plan
	r = r.To(Queued)
	if r.Spec.Head != spec.Head {
		was.Replaced = 0
	}
	r.Spec, r.Asked, r.Apply = spec, asked, Apply{}
	r.Plan = Plan{Replaced: was.Replaced, Applies: was.Applies, Reads: was.Reads, Deploys: was.Deploys, PlanSummary: comment.PlanSummary{Upheld: was.Upheld}, Idle: was.Idle}
	return r
}

// maxHistory limits the length of a run's history.
const maxHistory = 20

// outcomes returns the history of the run with the outcome of its present plan. at is the time at which a newer
// plan was requested.
func (r Run) outcomes(at time.Time) []comment.Past {
	past, ok := comment.PastOf(Status(r), r.Spec.Head, r.Asked.comment(), at)
	if !ok {
		return r.History
	}
	all := append(slices.Clone(r.History), past)
	return all[max(0, len(all)-maxHistory):]
}

// History returns the outcomes of a run's earlier plans, for a pull request with a head. The plan itself is one of
// them if it is not for this head.
func History(r Run, head string) []comment.Past {
	if r.Spec.Head != head && !r.Phase.UnderWay() || r.Phase == Superseded {
		return r.outcomes(time.Time{})
	}
	return r.History
}

// comment returns the ID of the comment that requested the run's plan or apply; 0 if there is none.
func (a Asked) comment() int64 {
	id, _ := strconv.ParseInt(a.Answer, 10, 64)
	return id
}

// Drop returns the run in phase Dropped: it is not planned or applied any more. fate says how its pull request
// ended, and was is the phase that people still see.
func (r Run) Drop(was Phase, fate Fate) Run {
	differs := r.End.Differs
	r = r.To(Dropped)
	r.End.Fate, r.End.Was, r.End.Differs = fate, was, differs
	return r
}

// PlansEverything reports whether a run's plan contains everything that the run's pull request changes. That is
// so if no option leaves a part out.
func PlansEverything(r Run) bool {
	return !r.Spec.Options.Partial() && !r.Spec.Options.KeepsObjects() && r.Spec.Options.Destroy == r.Spec.Removed
}

// Complete reports whether nothing is left to do for the pull request, once the run's plan is applied or if the
// plan has no changes.
func Complete(r Run) bool { return PlansEverything(r) && len(r.Plan.Doubts) == 0 || r.Plan.Upheld }

// HeadIsDone reports, in the result upheld, whether nothing of a head is left to be applied. If so,
// [Plan.Upheld] is set for a new plan that leaves changes out. r is the run before the new plan. The head is
// done if it is completely applied. It is also done if it is idle: it had no changes, with the same tip of the
// base branch.
func HeadIsDone(r Run, head, base string) (upheld, idle bool) {
	phase := r.Phase
	if phase == Dropped && r.End.Fate == Merged {
		phase = r.End.Was
	}
	switch {
	case r.Spec.Head != head || !Complete(r):
		return false, false
	case phase == Applied || r.Plan.Upheld && !r.Plan.Idle:
		return true, false
	}
	empty := r.Plan.Upheld || phase == Planned && !r.Plan.Applyable && !Preview(r)
	return empty && r.Spec.Base == base, true
}

// KeepsOutcome reports whether the result of the head still counts, although a later plan with options failed
// or was stopped.
func KeepsOutcome(r Run) bool {
	phase := r.Phase
	if phase == Dropped {
		phase = r.End.Was
	}
	return phase == PlanFailed && r.Plan.Upheld
}

// WithTrialMerge returns the run as it is planned with a trial merge of the head and a tip of the base branch.
// A removed project is planned from the tip. Once its removal is merged, it is planned from the last commit of
// the base branch that had the project. merged is set in that case.
func WithTrialMerge(r Run, m github.Merge, merged bool) Run {
	switch {
	case !r.Spec.Removed:
		r.Spec.Base, r.Spec.Merge = m.Base, m.SHA
	case !merged:
		r.Spec.Base, r.Spec.Merge, r.Spec.BaseRef = m.Base, m.Base, m.BaseRef
	}
	return r
}

// RemovedFrom reports whether the pull request of the run has removed the project by a merge into the given
// branch. If so, Base is a commit of this branch that still had the project. That commit decides for ever about
// the address of the state and its locks. It decides nothing for another branch, which has other requirements.
func RemovedFrom(r Run, branch string) bool {
	return r.Spec.Removed && r.Spec.AfterMerge && r.Spec.BaseRef == branch
}

// ByMerge reports whether the merge of the pull request applies the run's plan.
func (r Run) ByMerge() bool { return r.Spec.ApplyOn == project.OnMerge && !r.Spec.AfterMerge }

// lands reports whether a run has a plan that is ready to be applied by the merge.
func lands(r Run) bool { return r.Phase == Planned && r.Standing() == comment.OnMerge }

// Empty reports whether a run has a plan for everything that its pull request changes, and the plan has no
// changes.
func Empty(r Run) bool { return r.Phase == Planned && r.Standing() == comment.NoChanges }

// CheckedInQueue reports whether the plan of a run must be checked at the commit of a merge group. That is so
// if the merge applies the plan, or if the plan has no changes.
func CheckedInQueue(r Run) bool { return lands(r) || Empty(r) }

// QueuedBy reports whether a message has queued the apply of a run, and the apply has not begun.
func QueuedBy(r Run, message string) bool {
	return r.Phase == ApplyQueued && r.Asked.ApplyFor == message
}

// Over reports whether nothing more will be done with the run, because its pull request is not open.
func (r Run) Over(open bool) bool { return !open && !r.Spec.AfterMerge }

// MergedTooEarly reports whether a pull request was merged before the run had a plan that is valid for the
// merge. The merged changes are then planned from the base branch. shown is the time at which the plan was
// shown, and merged the time of the merge.
//
// A plan is valid for the merge under these conditions:
//   - If the merge applies the plan, people could see it before the merge.
//   - The plan has the rights of the merged commit. A preview of a fork does not have these rights.
//   - If the plan has no changes, it was made from the merged files.
//   - The plan was not dropped because the pull request was closed before, or went into another branch.
//   - If the plan has no changes, no later plan has failed.
func MergedTooEarly(r Run, shown, merged time.Time) bool {
	phase := r.Phase
	if phase == Dropped {
		phase = r.End.Was
	}
	switch {
	case r.Spec.AfterMerge:
		return false
	case Preview(r) || r.End.Differs || KeepsOutcome(r) && r.Plan.Idle || phase == Queued || phase == Planning || r.Standing() == comment.Closed:
		return true
	}
	return phase == Planned && r.ByMerge() && !r.Spec.Removed && r.Plan.Applyable && PlansEverything(r) && !CouldHaveSeen(shown, merged)
}

// CouldHaveSeen reports whether a person could see a plan before acting. shown is when people could first see
// the plan; zero if they never could. done is when the person acted. GitHub's clock has a precision of a
// second. Within one second the order is not known, and the result is false.
func CouldHaveSeen(shown, done time.Time) bool { return !shown.IsZero() && done.After(shown) }

// Preview reports whether a run is for a fork's commit that somebody named. Such a commit is planned without
// credentials, and never applied.
func Preview(r Run) bool { return r.Spec.Named != "" }

// ClaimOf returns the claim of a run's project on the granted address p. It returns nil for an address outside
// of buckets, because such an address is not claimed.
func (r Run) ClaimOf(p places.Place) *places.Claim {
	if p.Backend != "s3" {
		return nil
	}
	return &places.Claim{Place: p.String(), App: r.Pull.App, RepoID: r.Pull.Repo.ID, Repo: r.Pull.Repository(), Project: r.Project, Workspace: r.Workspace}
}
