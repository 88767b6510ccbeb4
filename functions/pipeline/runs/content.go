package runs

import (
	"slices"

	"github.com/lockstep-iac/lockstep/engine/plans/counting"
	"github.com/lockstep-iac/lockstep/functions/comment"
)

// A Content is the part of a plan that requirements can depend on.
type Content struct {
	// Changes is the number of objects to be created, updated, destroyed, imported and forgotten, and of actions to be invoked. Destroys is
	// the number of objects to be destroyed. A replacement counts as a creation and a destruction.
	Changes, Destroys int
	// Destroyed are the types of resources with a destroyed object, sorted, each once.
	Destroyed []string `json:",omitempty"`
	// Risks are the plan's risks, one for each name. Assessment says how they were found: see
	// requirements.AssessmentOf. It is "" if nobody has looked for them.
	Risks      []Risk `json:",omitempty"`
	Assessment string `json:",omitempty"`
	// Judgements are the verdicts of the base branch's policies, in the order of their blocks.
	Judgements []Judgement `json:",omitempty"`
	// Verdicts are the verdicts of the base branch's gates, in the order of their blocks.
	Verdicts []Judgement `json:",omitempty"`
	// Costs are what steps have found out about the costs of the plan.
	Costs []Cost `json:",omitempty"`
	// Steps are the results of the base branch's required steps before and after the plan.
	Steps []Judgement `json:",omitempty"`
}

// A Risk is a kind of risk that a plan has. Objects are the addresses of the objects that have the risk,
// without secrets. More is the number of addresses that are left out.
type Risk struct {
	Name    string
	Objects []string
	More    int `json:",omitempty"`
}

// maxAtRisk is the maximum number of objects that a record keeps for each risk.
const maxAtRisk = 5

// RisksOf returns a plan's risks, one for each name, in the order of their first occurrences.
func RisksOf(all []comment.Risk) (out []Risk) {
	for _, r := range all {
		i := slices.IndexFunc(out, func(x Risk) bool { return x.Name == r.Name })
		if i < 0 {
			i, out = len(out), append(out, Risk{Name: r.Name})
		}
		switch x := &out[i]; {
		case slices.Contains(x.Objects, r.Object):
		case len(x.Objects) < maxAtRisk:
			x.Objects = append(x.Objects, r.Object)
		default:
			x.More++
		}
	}
	return out
}

// Additive reports whether a plan only creates objects and updates them in place.
func Additive(r Run) bool {
	return !r.Spec.Removed && r.Plan.Counts == counting.Counts{Add: r.Plan.Counts.Add, Change: r.Plan.Counts.Change}
}

// A Cost says by how much a plan raises the monthly costs: Increase is an amount such as "12.4" in the Currency.
// Increase is "" if it is not known.
type Cost struct{ Increase, Currency string }

// A Judgement is the verdict of one policy block, gate block or step block on a plan.
type Judgement struct {
	Name string // of the block
	ID   string // see jobs.Policy.ID, requirements.Gate.ID and jobs.Step.ID
	// Denied and Warned are messages without secrets. Mistakes are defects of the policies or of the gate, for
	// which there is no verdict. MoreDenied and MoreWarned count messages that are left out; with Mistakes,
	// MoreDenied counts additional mistakes.
	Denied, Warned, Mistakes []string `json:",omitempty"`
	MoreDenied, MoreWarned   int      `json:",omitempty"`
}

// ContentOf returns the content of a plan. c has the numbers of changes, and destroyed the types of destroyed
// resources.
func ContentOf(c counting.Counts, destroyed []string) *Content {
	return &Content{Changes: c.Import + c.Add + c.Change + c.Destroy + c.Forget + c.Invoke, Destroys: c.Destroy, Destroyed: destroyed}
}
