package runs

import (
	"github.com/lockstep-iac/lockstep/engine/plans/counting"
)

// A Content is what requirements can be about in a plan.
type Content struct {
	// Changes are all objects to be created, updated, destroyed, imported and forgotten, Destroys those to be destroyed;
	// a replacement is a creation and a destruction.
	Changes, Destroys int
	// Destroyed are the types of resources of which one is destroyed, sorted, each once.
	Destroyed []string `json:",omitempty"`
	// Judgements are those by the base branch's policies, in their order.
	Judgements []Judgement `json:",omitempty"`
	// Verdicts are those of the base branch's gates, likewise.
	Verdicts []Judgement `json:",omitempty"`
}

// Additive reports whether a plan creates objects and updates them in place, and does nothing else.
func Additive(r Run) bool {
	return !r.Spec.Removed && r.Plan.Counts == counting.Counts{Add: r.Plan.Counts.Add, Change: r.Plan.Counts.Change}
}

// A Judgement is the verdict of one policy block, or one gate block, on a plan.
type Judgement struct {
	Name string // of the block
	ID   string // see jobs.Policy and requirements.Gate
	// Denied and Warned are messages, without secrets, and MoreDenied and MoreWarned the numbers of further
	// ones. Mistakes are those in the policies, or of the gate, for which there is no verdict: MoreDenied is the number of further
	// ones of these then.
	Denied, Warned, Mistakes []string `json:",omitempty"`
	MoreDenied, MoreWarned   int      `json:",omitempty"`
}

// ContentOf returns the content of a plan with numbers of changes and types of destroyed resources.
func ContentOf(c counting.Counts, destroyed []string) *Content {
	return &Content{Changes: c.Import + c.Add + c.Change + c.Destroy + c.Forget, Destroys: c.Destroy, Destroyed: destroyed}
}
