package run

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"

	"github.com/lockstep-iac/lockstep/functions/comment"
	"github.com/lockstep-iac/lockstep/functions/project"
)

// A Phase is how far a run has come.
type Phase string

const (
	New         Phase = ""       // there is no record yet
	Queued      Phase = "queued" // to be planned
	Planning    Phase = "planning"
	Planned     Phase = "planned"
	PlanFailed  Phase = "plan failed"
	ApplyQueued Phase = "apply queued"
	Applying    Phase = "applying"
	Applied     Phase = "applied"
	ApplyFailed Phase = "apply failed"
	Stale       Phase = "stale"      // found to be out of date when it was to be applied
	Superseded  Phase = "superseded" // the present head does not touch the project
	Dropped     Phase = "dropped"    // the pull request is closed
)

// follows says what may follow what. A plan may be asked for, again and again, in
// every phase but two: what is being applied, or waits for it, is left alone.
var follows = map[Phase][]Phase{
	New:         {Queued},
	Queued:      {Planning, PlanFailed, Queued, Superseded, Dropped},
	Planning:    {Planned, PlanFailed, Planning, Queued, Superseded, Dropped},
	Planned:     {ApplyQueued, Queued, Dropped},
	PlanFailed:  {Queued, Dropped},
	ApplyQueued: {Applying, Planned, Stale, Dropped},
	Applying:    {Applied, ApplyFailed, ApplyQueued, Planned, Stale, Dropped},
	Applied:     {Queued, Dropped},
	ApplyFailed: {Queued, Dropped},
	Stale:       {Queued, Dropped},
	Superseded:  {Queued, Dropped},
	Dropped:     {Queued},
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
	// Actor is who asked for what was done last, "" for a push, and Ask the answer that
	// waits for it, "" if none does.
	PlanFor  string
	ApplyFor string `json:",omitempty"`
	Actor    string `json:",omitempty"`
	Ask      string `json:",omitempty"`
	// State is what the plan was made from, Inputs the hash of the files.
	State     StateID
	Inputs    string
	Counts    comment.Counts
	Applyable bool
	// Full says that the plan's report is shortened, and all of it is kept, too.
	Full bool
	// Done and Remaining are what an apply did, and how many changes it did not begin.
	Done      comment.Counts
	Remaining int
}

// to moves the run on.
func (r Run) to(next Phase) Run {
	if !r.Phase.May(next) {
		panic(fmt.Sprintf("run: %s of %s#%d cannot go from %q to %q", r.Project, r.Pull.Repo, r.Pull.Number, r.Phase, next))
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
			return comment.GivenUp
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
		return comment.OutOfDate
	case Superseded, New:
		return comment.Overtaken
	}
	switch {
	case !r.Applyable:
		return comment.NoChanges
	case r.ApplyOn == project.OnMerge:
		return comment.OnMerge
	}
	return comment.Ready
}

// runs is the directory of the keys of all runs of a pull request.
func (p Pull) runs() string { return fmt.Sprintf("run/%d/%d", p.Repo.ID, p.Number) }

// key is the run's.
func (r Run) key() string { return r.Pull.runs() + "/" + r.Target() }

// Target names project and workspace in keys and messages.
func (r Run) Target() string { return segment(r.Project) + "@" + segment(r.Workspace) }

// checkPrefix begins the names of check runs.
const checkPrefix = "lockstep/"

// Check is the name of the run's check run. No project has an "@" in its name.
func (r Run) Check() string {
	if r.Workspace != project.DefaultWorkspace {
		return checkPrefix + r.Project + "@" + r.Workspace
	}
	return checkPrefix + r.Project
}

// plain names the run in IDs of messages, which are short and of few characters.
func (r Run) plain() string {
	sum := sha256.Sum256([]byte(r.key()))
	return hex.EncodeToString(sum[:8])
}

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
