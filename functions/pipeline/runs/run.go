package runs

import (
	"fmt"

	"github.com/lockstep-iac/lockstep/functions/comment"
	"github.com/lockstep-iac/lockstep/functions/pipeline"
	"github.com/lockstep-iac/lockstep/functions/project"
)

// A Run is the record of one project of one pull request: what was planned last, and
// what became of it.
type Run struct {
	Pull      pipeline.Pull
	Project   string
	Dir       string
	Workspace string
	VarFiles  []string `json:",omitempty"`
	// ApplyOn is what the base branch says.
	ApplyOn project.ApplyOn
	Phase   Phase
	// Was is the phase in which the pull request was closed, of a run that is Dropped,
	// and Merged says that it was merged then.
	Was    Phase `json:",omitempty"`
	Merged bool  `json:",omitempty"`
	// Head is the commit that was planned, Base the tip of the base branch then, and
	// Merge the commit that merges the two: it is what is checked out.
	Head, Base, Merge string
	// Attempt counts the plans that were asked for, Begun those that were begun, which
	// names what is kept of them, and Try the applies that were asked for.
	Attempt, Begun, Try int
	// Swept is up to which Begun the artifacts are deleted.
	Swept int
	// PlanFor and ApplyFor are the events that asked for the last plan and the last apply.
	// Actor is who asked for what was done last, "" for a push, and Answer the answer that
	// waits for it, "" if none does.
	PlanFor  string
	ApplyFor string `json:",omitempty"`
	Actor    string `json:",omitempty"`
	Answer   string `json:"Ask,omitempty"`
	// Place is where the state was that was planned, as places.Place writes it; "" if nobody noted it.
	Place string `json:",omitempty"`
	// State is what the plan was made from, Inputs the hash of the files.
	State     StateID
	Inputs    string
	Counts    comment.Counts
	Applyable bool
	// PlanHash tells the saved plan from others, and Reported its report: see [HashOf].
	PlanHash string `json:",omitempty"`
	Reported string `json:",omitempty"`
	// Full says that the plan's report is shortened, and all of it is kept, too.
	Full bool
	// Done and Remaining are what an apply did, and how many changes it did not begin;
	// Lost says that nobody knows.
	Done      comment.Counts
	Remaining int
	Lost      bool `json:",omitempty"`
}

// To moves the run on. A step that may not follow is our bug, and panics.
func (r Run) To(next Phase) Run {
	if !r.Phase.May(next) {
		panic(fmt.Sprintf("runs: %s of %s#%d cannot go from %q to %q", r.Project, r.Pull.Repo, r.Pull.Number, r.Phase, next))
	}
	r.Phase, r.Was, r.Merged = next, "", false
	return r
}

// Standing is how the phase is put to people.
func (r Run) Standing() comment.Standing {
	phase := r.Phase
	if phase == Dropped {
		phase = r.Was
		done := phase == Applied || phase == ApplyFailed
		switch {
		case !r.Merged && !done:
			return comment.Closed
		case !done && phase != PlanFailed && (phase != Planned || r.Applyable):
			return comment.NotApplied
		}
	}
	switch phase {
	case Queued:
		return comment.Queued
	case Planning:
		return comment.Planning
	case PlanFailed:
		return comment.PlanFailed
	case ApplyQueued:
		return comment.ApplyQueued
	case Applying:
		return comment.Applying
	case Applied:
		return comment.Applied
	case ApplyFailed:
		return comment.ApplyFailed
	case Stale:
		return comment.Stale
	case Superseded, New:
		return comment.Superseded
	}
	switch {
	case !r.Applyable:
		return comment.NoChanges
	case r.ApplyOn == project.OnMerge:
		return comment.OnMerge
	}
	return comment.Ready
}
