package runs

import (
	"github.com/lockstep-iac/lockstep/functions/comment/reasons"
)

// Renewed reports whether nobody has asked for the plan.
func (r Run) Renewed() bool { return r.Plan.Checked != nil && r.Plan.Checked.Renewed }

// A Failure is what a plan was made with that failed. Once that is something else, the plan is made again.
type Failure struct {
	// On are the plans and applies of the projects of the pull request that it depends on, by target: see package plannedoutputs.
	On map[string]string `json:",omitempty"`
}

// Checkable reports whether the plan of a run can become another one without a push or a command: it waits for its apply, or has
// failed.
func Checkable(r Run) bool {
	return (r.Phase == Planned || r.Phase == PlanFailed && r.Plan.Failure != nil) && !Preview(r) && r.End.FinishedBy == 0
}

// Anew returns the run of a plan that failed, or whose project the base branch had removed and has again, as one that is planned again,
// for a message, as nobody else has asked for it.
func Anew(r Run, message string) Run {
	return r.Queue(r.Spec, Asked{PlanFor: message, By: r.Asked.By, Retry: r.Asked.Retry, Crowd: r.Asked.Crowd})
}

// Checked is the last check of a run's plan against the state after an apply.
type Checked struct {
	ID string // of the message
	// Since are the parts of the plan that had moved; it has the same changes, unless it is Renewed or
	// Problem tells why that is not known, in Markdown.
	Since   reasons.List `json:",omitempty"`
	Problem string       `json:",omitempty"`
	// Inputs is the hash of the input files that it was checked with; "" if it was not.
	Inputs string `json:",omitempty"`
	// PlannedOn are the plans whose outputs the plan was checked with, by target; nil if it was made with none.
	PlannedOn map[string]string `json:",omitempty"`
	// Renewed is set if the plan is another one, for the reasons of Since, which took the place of
	// the one that was checked.
	Renewed bool `json:",omitempty"`
	// Former is the plan that a renewed one took the place of: until our check run names the new one,
	// it is the only one that is known to be ours.
	Former *Former `json:",omitempty"`
}

// Former is what a run's record had of a plan.
type Former struct {
	Begun         int
	PlanHash      string
	Parts         *PlanParts `json:",omitempty"`
	State         StateID
	Inputs, Place string
	Renewed       bool `json:",omitempty"` // nobody had asked for that one either
}

// Former returns the plan of a run, for when it has another one.
func (r Run) Former() *Former {
	return &Former{r.Artifacts.Begun, r.Plan.Hash, r.Plan.Parts, r.Plan.State, r.Plan.Inputs, r.Address.Place, r.Renewed()}
}

// With returns a run with its former plan. Its parts are proved by the hash alone, if that is the one
// in our check run.
func (r Run) With(f *Former) Run {
	r.Artifacts.Begun, r.Plan.Hash, r.Plan.Parts, r.Plan.State, r.Plan.Inputs, r.Address.Place = f.Begun, f.PlanHash, f.Parts, f.State, f.Inputs, f.Place
	r.Plan.Checked = &Checked{Renewed: f.Renewed}
	return r
}
