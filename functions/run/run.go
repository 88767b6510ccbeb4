package run

import (
	"fmt"
	"slices"

	"github.com/lockstep-iac/lockstep/functions/comment"
)

// A Phase is how far a run has come.
type Phase string

const (
	New         Phase = "" // there is no record yet
	Planning    Phase = "planning"
	Planned     Phase = "planned"
	PlanFailed  Phase = "plan failed"
	Applying    Phase = "applying"
	Applied     Phase = "applied"
	ApplyFailed Phase = "apply failed"
	Stale       Phase = "stale"   // found to be out of date when it was to be applied
	Dropped     Phase = "dropped" // the pull request is closed
)

// follows says what may follow what. Planning may begin, or begin again, in every
// phase but one: what is being applied is left alone.
var follows = map[Phase][]Phase{
	New:         {Planning},
	Planning:    {Planned, PlanFailed, Planning, Dropped},
	Planned:     {Applying, Stale, Planning, Dropped},
	PlanFailed:  {Planning, Dropped},
	Applying:    {Applied, ApplyFailed, Stale, Planned},
	Applied:     {Planning, Dropped},
	ApplyFailed: {Planning, Dropped},
	Stale:       {Planning, Dropped},
	Dropped:     {Planning},
}

// May reports whether a run in phase p may go on to next.
func (p Phase) May(next Phase) bool { return slices.Contains(follows[p], next) }

// A Run is the record of one project of one pull request: what was planned last, and
// what became of it.
type Run struct {
	Pull      Pull
	Project   string
	Dir       string
	Workspace string
	Phase     Phase
	// Head is the commit that was planned, Base the tip of the base branch then.
	Head, Base string
	// Attempt counts the plans of this project for the pull request, Tries how often
	// applying was begun.
	Attempt, Tries int
	// Actor is who asked for what was done last; "" for a push.
	Actor string `json:",omitempty"`
	// Message is the one whose handling moved the run last.
	Message string
	// State is what the plan was made from.
	State     StateID
	Counts    comment.Counts
	Applyable bool
	// Plan and Report are keys of artifacts; "" if there are none.
	Plan, Report string `json:",omitempty"`
}

// to moves the run on.
func (r Run) to(next Phase) Run {
	if !r.Phase.May(next) {
		panic(fmt.Sprintf("run: %s of %s#%d cannot go from %q to %q", r.Project, r.Pull.Repo, r.Pull.Number, r.Phase, next))
	}
	r.Phase = next
	return r
}

// standing is how the status comment puts the phase.
func (r Run) standing() comment.Standing {
	switch r.Phase {
	case Planning:
		return comment.Planning
	case PlanFailed:
		return comment.PlanFailed
	case Applying:
		return comment.Applying
	case Applied:
		return comment.Applied
	case ApplyFailed:
		return comment.ApplyFailed
	case Stale:
		return comment.OutOfDate
	}
	if r.Applyable {
		return comment.Ready
	}
	return comment.NoChanges
}

// runs is the directory of the keys of all runs of a pull request.
func (p Pull) runs() string { return fmt.Sprintf("run/%d/%d", p.Repo.ID, p.Number) }

// key is the run's.
func (r Run) key() string { return r.Pull.runs() + "/" + r.Target() }

// artifact names something that is kept for the run.
func (r Run) artifact(key string) Artifact {
	return Artifact{Key: key, Repo: r.Pull.Repo.String(), Number: r.Pull.Number, SHA: r.Head}
}

// Target names project and workspace in keys and messages.
func (r Run) Target() string { return segment(r.Project) + "@" + segment(r.Workspace) }

// stateKey is the key of the [LastApply] of the state that the run is for.
func (r Run) stateKey() string { return fmt.Sprintf("state/%d/%s", r.Pull.Repo.ID, r.Target()) }

// A LastApply is which pull request was last applied to a state.
type LastApply struct {
	Number int
	Head   string
	By     string
	State  StateID // afterwards
	// Settled says that the pull request was merged, or closed.
	Settled bool
}
