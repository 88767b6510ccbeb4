package runs

import (
	"time"

	"github.com/lockstep-iac/lockstep/functions/comment/reasons"
)

// Renewed reports whether Lockstep made the plan by itself, in place of a former plan, without a request.
func (r Run) Renewed() bool { return r.Plan.Checked != nil && r.Plan.Checked.Renewed }

// A Failure has the inputs of a plan that failed. If these change, Lockstep plans again.
type Failure struct {
	// On are the plans and applies of the projects in the pull request that this one depends on, by target: see
	// package plannedoutputs.
	On map[string]string `json:",omitempty"`
}

// Checkable reports whether Lockstep may replace the plan of a run without a push or a command. It may if the
// plan waits for its apply or has failed.
func Checkable(r Run) bool {
	return (r.Phase == Planned || r.Phase == PlanFailed && r.Plan.Failure != nil) && !Preview(r) && r.End.FinishedBy == 0
}

// PlanAgainUnasked returns the run queued for a plan that nobody requested. There are two reasons for such a
// plan: the run's plan failed, or the base branch had removed the project and has it again. message is the ID
// of the message that caused the plan, and at its time.
func PlanAgainUnasked(r Run, message string, at time.Time) Run {
	return r.Queue(r.Spec, Asked{PlanFor: message, By: r.Asked.By, Retry: r.Asked.Retry, Crowd: r.Asked.Crowd}, at)
}

// Checked is the last check of a run's plan against the state, after another apply.
type Checked struct {
	ID string // of the message
	// Since are the parts of the plan that had changed. The plan made now has the same changes, unless Renewed
	// is set. If the changes could not be compared, Problem is the reason, in Markdown.
	Since   reasons.List `json:",omitempty"`
	Problem string       `json:",omitempty"`
	// Inputs is the hash of the input files of the check; "" if the files were not checked.
	Inputs string `json:",omitempty"`
	// PlannedOn are the plans whose outputs the check used, by target; nil if the plan uses none.
	PlannedOn map[string]string `json:",omitempty"`
	// Renewed is set if the check found other changes, for the reasons in Since. The plan of the run is then
	// the new one, made by the check.
	Renewed bool `json:",omitempty"`
	// Former is the plan that a renewed plan has replaced. Until Lockstep's check run names the new plan, only
	// the former plan is proved to be Lockstep's.
	Former *Former `json:",omitempty"`
}

// Former is the part of a run's record that describes a plan.
type Former struct {
	Begun         int
	PlanHash      string
	Parts         *PlanParts `json:",omitempty"`
	State         StateID
	Inputs, Place string
	Renewed       bool `json:",omitempty"` // nobody had asked for that plan either
}

// Former returns the plan of a run, to be kept when another plan replaces it.
func (r Run) Former() *Former {
	return &Former{r.Artifacts.Begun, r.Plan.Hash, r.Plan.Parts, r.Plan.State, r.Plan.Inputs, r.Address.Place, r.Renewed()}
}

// WithFormer returns a run with its former plan f. If Lockstep's check run has the hash of that plan, the hash
// alone proves the parts of the plan.
func (r Run) WithFormer(f *Former) Run {
	r.Artifacts.Begun, r.Plan.Hash, r.Plan.Parts, r.Plan.State, r.Plan.Inputs, r.Address.Place = f.Begun, f.PlanHash, f.Parts, f.State, f.Inputs, f.Place
	r.Plan.Checked = &Checked{Renewed: f.Renewed}
	return r
}
