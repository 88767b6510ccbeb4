package runs

import (
	"fmt"
	"time"

	"github.com/lockstep-iac/lockstep/engine/plans/counting"
	"github.com/lockstep-iac/lockstep/functions/comment"
	"github.com/lockstep-iac/lockstep/functions/comment/grammar"
	"github.com/lockstep-iac/lockstep/functions/comment/reasons"
	"github.com/lockstep-iac/lockstep/functions/comment/rulings"
	"github.com/lockstep-iac/lockstep/functions/pipeline"
	"github.com/lockstep-iac/lockstep/functions/places"
	"github.com/lockstep-iac/lockstep/functions/project"
	"github.com/lockstep-iac/lockstep/github"
)

// A Run is the record of one project of one pull request: what is to be planned, who has asked for it, and what became of that. A new
// plan is a new [Spec] with a [Plan] and an [Apply] that are empty; the rest goes on.
type Run struct {
	ID
	Phase Phase
	// Spec is what the last plan was asked for, and Asked who has asked for that and for the last apply.
	Spec  Spec
	Asked Asked
	// Address is where the state of the plan is. Plan is what was made, and Apply what was done of it.
	Address Address `json:",omitzero"`
	Plan    Plan    `json:",omitzero"`
	Apply   Apply   `json:",omitzero"`
	// End is what has ended the run, if it is at an end, and Artifacts counts the files that it has.
	End       End `json:",omitzero"`
	Artifacts Artifacts
}

// An ID names a run for ever.
type ID struct {
	Pull      pipeline.Pull
	Project   string
	Workspace string
}

// A Spec is what is planned.
type Spec struct {
	Dir      string
	VarFiles []string `json:",omitempty"`
	// Environment is that of the project at the head, which grants nothing. Deployment is the name of the deployment
	// that has planned it.
	Environment string `json:",omitempty"`
	Deployment  string `json:",omitempty"`
	// ApplyOn is the setting of the base branch.
	ApplyOn project.ApplyOn
	// Head is the planned commit, Base the tip of the base branch then, and Merge their trial merge, which is checked out.
	Head, Base, Merge string
	// BaseRef is the branch that had Base as its tip, for a Removed run.
	BaseRef string `json:",omitempty"`
	// Named is the commit of a fork that somebody has named, for a plan without credentials, of which nothing is ever
	// applied; "" for all other plans.
	Named string `json:",omitempty"`
	// AfterMerge is set for a plan that was requested after the merge, for what was merged and is not applied. Base and
	// Merge are the same commit of the base branch then.
	AfterMerge bool `json:",omitempty"`
	// Removed is set for a project that the pull request removes: the plan is to destroy its objects, by the
	// configuration that the base branch has. Base and Merge are the same commit then, too.
	Removed bool `json:",omitempty"`
	// Twin is set if another project of the pull request has the name, in another workspace: one of the two is Removed.
	Twin bool `json:",omitempty"`
	// Beside is set for a project that the pull request does not touch: somebody has named it.
	Beside bool `json:",omitempty"`
	// Options are those of the plan.
	Options grammar.Options `json:",omitzero"`
	// Ordered is set if a project of the head depends on another one.
	Ordered bool `json:",omitempty"`
}

// Asked is who has asked for a run's last plan and its last apply, with which message.
type Asked struct {
	// Attempt counts the plans requested, and Try the applies.
	Attempt, Try int
	// ThenApply is the Try of the apply that was requested together with the plan, or that waits; 0 for none.
	ThenApply int `json:",omitempty"`
	// Waits is an apply that waits for those of other projects; nil if none does.
	Waits *Waiting `json:",omitempty"`
	// Late is set for an apply that the merge has asked for, and that waits for requirements, or has: it is decided by the base
	// branch as it is then, as a plan after the merge is.
	Late bool `json:",omitempty"`
	// Retry is set if the plan was asked for since the last one, or its apply, had failed.
	Retry bool `json:",omitempty"`
	// After are the projects whose plans are made before that of a Queued run, which waits for them; none if it does
	// not.
	After []string `json:",omitempty"`
	// PlanFor and ApplyFor are the events that requested the last plan and the last apply. By is
	// the login of the user behind the later one, "" for a push. Answer names the answer that waits
	// for the result, "" if there is none. PlanLine is the index of the comment's line that requested the plan.
	PlanFor  string
	PlanLine int    `json:",omitempty"`
	ApplyFor string `json:",omitempty"`
	By       string `json:",omitempty"`
	Answer   string `json:",omitempty"`
	// Missed is set if the message for the plan was handled while the pull request was closed: a plan needs another one.
	Missed bool `json:",omitempty"`
	// Into is the name of the base branch that the last apply was asked for.
	Into string `json:",omitempty"`
	// Quiet is set for one of many plans of a push or command: its check run is made once it is planned,
	// and the comments are written for several at once. GitHub limits an installation to 80 such writes
	// a minute, and 500 an hour.
	//
	// Source: https://docs.github.com/en/rest/using-the-rest-api/rate-limits-for-the-rest-api#about-secondary-rate-limits
	Quiet bool `json:",omitempty"`
	// Crowd is the number of plans of the repository that were queued before this one, where they hold it up.
	Crowd int `json:",omitempty"`
}

// An Address is where the state of a run's plan is.
type Address struct {
	// Owner is the project that the base branch gives the state of the plan, under another name: nobody can apply it before the merge;
	// "" for none.
	Owner string `json:",omitempty"`
	// Place is the address of the state in the plan, by places.Place.String; "" in records without
	// it.
	Place string `json:",omitempty"`
	// From is where the base branch has the state that the plan moves to Place, or had it, and Before are where it had it before that: what
	// others apply or lock there is of the same objects. Were are its former addresses: the pull request may have an apply or a lock there.
	From         string   `json:",omitempty"`
	Before, Were []string `json:",omitempty"`
}

// A Plan is what was made for a [Spec]; it is empty until then.
type Plan struct {
	// State is the state of the plan, Inputs the hash of its input files.
	State     StateID
	Inputs    string
	Counts    counting.Counts
	Applyable bool
	// Content is the part of the plan's content that requirements can be about.
	Content *Content `json:",omitempty"`
	// Judged is the same, with the verdicts of policies and gates for which the last apply was refused; nil if it was not. They
	// may be others the next time, so that only people are told of it.
	Judged *Content `json:",omitempty"`
	// Hash is the hash of the plan, over its Parts. Reported is the hash of its report: see [HashOf].
	Hash     string     `json:",omitempty"`
	Parts    *PlanParts `json:",omitempty"`
	Reported string     `json:",omitempty"`
	// Again is the hash of the saved plan that is applied in the place of this one: it was made again
	// and is the same. Settled are the reasons for that.
	Again   string       `json:",omitempty"`
	Settled reasons.List `json:",omitempty"`
	// Doubts are the objects that the plan leaves out, with all that depends on them, since nobody knows whether they exist.
	Doubts []string `json:",omitempty"`
	// Replaced is the number of the last plan that took the place of another one at the head, so that an approval from before it
	// was shown is of the former; 0 if none did.
	Replaced int `json:",omitempty"`
	// Applies is the number of applies to the state that the plan knows of, at least: see
	// [LastApply]. Checked is its last check against the state after another one; nil if there was
	// none.
	Applies int      `json:",omitempty"`
	Checked *Checked `json:",omitempty"`
	// Reads is the number of applies that the plan knows of, at least, to the states of the projects that it depends on, by
	// target.
	Reads map[string]int `json:",omitempty"`
	// Failure is what a plan was made with that failed; nil if it did not, or was not begun: then nothing but a person helps.
	Failure *Failure `json:",omitempty"`
	// Full is set if the report is shortened and an artifact has the full text.
	Full bool `json:",omitempty"`
	// Upheld is set for a refresh-only plan of a head that is applied as a whole, or has nothing to apply: there is nothing that the
	// plan leaves out. It is set for a plan with other options, too, until that is made: see [Stands]; and for a Dropped run that has a
	// plan without changes, since its head is applied. Idle is set besides if the head had nothing to apply.
	Upheld bool `json:",omitempty"`
	Idle   bool `json:",omitempty"`
	// Deploys is the environment of GitHub in which applies of the plan are recorded as deployments; "" for none.
	Deploys string `json:",omitempty"`
}

// An Apply is what was done of a [Plan]; it is empty until then.
type Apply struct {
	// Done are the changes of an apply, and Remaining the number of changes that it did not begin.
	// Lost is set if both are unknown.
	Done      counting.Counts
	Remaining int
	Lost      bool `json:",omitempty"`
	// Progress are the changes of an apply that is not at its end. Part is set if the plan was
	// applied in part, and only the rest of it is left to be applied.
	Progress comment.Progress `json:",omitzero"`
	Part     bool             `json:",omitempty"`
	// Lifted are the requirements that the last apply did not fulfil, and that somebody has lifted for it; nil if there were none.
	Lifted *rulings.Ruling `json:",omitempty"`
	// Hooks are the answers of the hooks before and after the last apply.
	Hooks []reasons.Hooked `json:",omitempty"`
}

// An End is what has ended a run, or its last plan or apply.
type End struct {
	// Fate is what became of the pull request of a Dropped run, or [Gone] for a Superseded one; "" for all others. Was is the phase of
	// a Dropped run before.
	Fate Fate  `json:",omitempty"`
	Was  Phase `json:",omitempty"`
	// Differs is set for a run whose plan has no changes, and which the merge drops, if the merge has other files than those that it was made of.
	Differs bool `json:",omitempty"`
	// GoneAt is the tip of the base branch at which a [Gone] project was looked for last; "" as long as nobody has looked for it again.
	GoneAt string `json:",omitempty"`
	// Renamed is the name of the project that the base branch has in the place of the run's own since it was planned: see
	// [project.Successor]. The run is Superseded once that one is planned.
	Renamed string `json:",omitempty"`
	// FinishedBy is the number of another pull request whose apply has finished what the merge has left of the project; 0 if none has.
	FinishedBy int `json:",omitempty"`
	// StoppedBy is the login of the user who stopped the last apply, or the last plan.
	StoppedBy string `json:",omitempty"`
}

// Artifacts are the numbers of plans that were begun, by which the files of a run are named.
type Artifacts struct {
	// Begun counts the plans begun.
	Begun int
	// Reserved is the highest number of a plan that was begun on the side, while the run had
	// another one; 0 if there was none. See [Run.NextBegun].
	Reserved int `json:",omitempty"`
	// Swept is the highest Begun whose artifacts are deleted.
	Swept int
}

// RemovedByBase returns a run whose project the base branch has removed. ok is false if it stays as it is: it is under way,
// or has changed something.
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

// Conflicting returns a run whose plan is out of date, since the head of its pull request conflicts with the base branch. ok is
// false if it stays as it is: it has no plan of that head that waits for people alone.
func Conflicting(r Run, head string) (stale Run, ok bool) {
	if r.Phase != Planned || r.Spec.Head != head || r.Spec.AfterMerge || r.coming() || Preview(r) {
		return r, false
	}
	return r.To(Stale), true
}

// NextBegun returns the number of the next plan to begin. No plan had it before, so that no two
// processes write the same artifacts.
func (r Run) NextBegun() int { return r.Numbers() + 1 }

// Numbers is the highest number that artifacts of the run may have.
func (r Run) Numbers() int { return max(r.Artifacts.Begun, r.Artifacts.Reserved) }

// To moves the run on. A step that is not allowed is our bug, and panics.
func (r Run) To(next Phase) Run {
	if !r.Phase.May(next) {
		panic(fmt.Sprintf("runs: %s of %s#%d cannot go from %q to %q", r.Project, r.Pull.Repo, r.Pull.Number, r.Phase, next))
	}
	r.Phase, r.End = next, End{Renamed: r.End.Renamed, FinishedBy: r.End.FinishedBy, StoppedBy: r.End.StoppedBy}
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
	if next == Planned && !r.Spec.Options.RefreshOnly { // it is of the head from then on
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

// Queue returns a run that is to be planned, as somebody has asked for it. Nothing is left of its last plan and apply but what goes on: the
// numbers, where else the run is recorded, and for which apply somebody has asked last.
func (r Run) Queue(spec Spec, asked Asked) Run {
	asked.Attempt, asked.Try, asked.ApplyFor, asked.Into = r.Asked.Attempt+1, r.Asked.Try, r.Asked.ApplyFor, r.Asked.Into
	was := r.Plan
	r = r.To(Queued)
	if r.Spec.Head != spec.Head {
		was.Replaced = 0
	}
	r.Spec, r.Asked, r.Apply = spec, asked, Apply{}
	r.Plan = Plan{Replaced: was.Replaced, Applies: was.Applies, Reads: was.Reads, Deploys: was.Deploys, Upheld: was.Upheld, Idle: was.Idle}
	return r
}

// Drop returns a run that nobody plans or applies any more, by the fate of its pull request. was is the phase that people are told of.
func (r Run) Drop(was Phase, fate Fate) Run {
	differs := r.End.Differs
	r = r.To(Dropped)
	r.End.Fate, r.End.Was, r.End.Differs = fate, was, differs
	return r
}

// Whole reports whether the plan of a run is of all that its pull request changes: its options leave nothing out.
func Whole(r Run) bool {
	return !r.Spec.Options.Partial() && !r.Spec.Options.RefreshOnly && r.Spec.Options.Destroy == r.Spec.Removed
}

// Complete reports whether nothing is left of what the pull request changes, once the plan of a run is applied, or has no changes.
func Complete(r Run) bool { return Whole(r) && len(r.Plan.Doubts) == 0 || r.Plan.Upheld }

// Upholds reports whether a head is applied as a whole, or idle, as it had no changes with the same tip of the base branch: then
// nothing that a plan leaves out is left to be done. r is the run before.
func Upholds(r Run, head, base string) (upheld, idle bool) {
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

// Stands reports whether the outcome of a head stands, although a plan with options that somebody has asked for since has failed, or
// was stopped.
func Stands(r Run) bool {
	phase := r.Phase
	if phase == Dropped {
		phase = r.End.Was
	}
	return phase == PlanFailed && r.Plan.Upheld
}

// Against returns a run as it is planned with a tip of the base branch and their trial merge. A project that is removed is
// planned of the tip, and once its removal is merged, of the last one that had it.
func Against(r Run, m github.Merge, merged bool) Run {
	switch {
	case !r.Spec.Removed:
		r.Spec.Base, r.Spec.Merge = m.Base, m.SHA
	case !merged:
		r.Spec.Base, r.Spec.Merge, r.Spec.BaseRef = m.Base, m.Base, m.BaseRef
	}
	return r
}

// Had reports whether the Base of a run is a commit of a branch that had the project which its pull request has removed by a merge into that
// branch: the address of the state, and its locks, are those of that commit for ever. Of another branch they are not, whose
// requirements are others.
func Had(r Run, branch string) bool {
	return r.Spec.Removed && r.Spec.AfterMerge && r.Spec.BaseRef == branch
}

// ByMerge reports whether the merge of the pull request applies the run's plan.
func (r Run) ByMerge() bool { return r.Spec.ApplyOn == project.OnMerge && !r.Spec.AfterMerge }

// lands reports whether a run has a plan that the merge applies as it is.
func lands(r Run) bool { return r.Phase == Planned && r.Standing() == comment.OnMerge }

// Empty reports whether a run has a plan of all that its pull request changes, and that is nothing.
func Empty(r Run) bool { return r.Phase == Planned && r.Standing() == comment.NoChanges }

// InQueue reports whether the plan of a run has to hold at the head of a merge queue: the merge applies it as it is, or nothing.
func InQueue(r Run) bool { return lands(r) || Empty(r) }

// Queues reports whether a message has queued the apply of a run, which has not begun.
func Queues(r Run, message string) bool { return r.Phase == ApplyQueued && r.Asked.ApplyFor == message }

// Over reports whether nothing more will be done with the run, since its pull request is not open.
func (r Run) Over(open bool) bool { return !open && !r.Spec.AfterMerge }

// Overtaken reports whether a pull request was merged before a plan of a run was made that the merge can be about: people see it,
// where the merge applies it; it has the rights, and if it is without changes the files, that what is merged has; and it is not dropped since the pull request was closed, or
// went into another branch. Nor is one known that has no changes, where another one has failed since. Then what was merged is planned of the base branch. shown is the time at which the plan was shown, merged that of the merge.
func Overtaken(r Run, shown, merged time.Time) bool {
	phase := r.Phase
	if phase == Dropped {
		phase = r.End.Was
	}
	switch {
	case r.Spec.AfterMerge:
		return false
	case Preview(r) || r.End.Differs || Stands(r) && r.Plan.Idle || phase == Queued || phase == Planning || r.Standing() == comment.Closed:
		return true
	}
	return phase == Planned && r.ByMerge() && !r.Spec.Removed && r.Plan.Applyable && Whole(r) && !Seen(shown, merged)
}

// Seen reports whether who did something could have seen a plan, by the times at which both happened; zero is a plan that was not
// shown. GitHub's clock has seconds: within one the order is unknown.
func Seen(shown, done time.Time) bool { return !shown.IsZero() && done.After(shown) }

// Preview reports whether a run is of a fork's commit that somebody has named: it is planned without credentials, and
// nothing of it is applied.
func Preview(r Run) bool { return r.Spec.Named != "" }

// ClaimOf is the claim of a run's project on a granted place; nil where none is made.
func (r Run) ClaimOf(p places.Place) *places.Claim {
	if p.Backend != "s3" {
		return nil
	}
	return &places.Claim{Place: p.String(), App: r.Pull.App, RepoID: r.Pull.Repo.ID, Repo: r.Pull.Repository(), Project: r.Project, Workspace: r.Workspace}
}
