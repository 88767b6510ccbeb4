package planning

import (
	"slices"

	"github.com/lockstep-iac/lockstep/engine/marks"
	"github.com/lockstep-iac/lockstep/engine/plans"
)

// applyable reports whether applying would change anything. rewritten is set if the state gets another
// text for something that is the same.
//
// A plan that is not applyable is not offered for approval, and an apply of it does nothing: so drift alone is no
// reason in normal mode, where the next plan finds it again, and is one in refresh-only mode, where to
// store it is the purpose. An import, a move and a forgotten data source change the state alone, and count.
// Source: the member "applyable" in https://developer.hashicorp.com/terraform/internals/json-format
func applyable(plan *plans.Plan, rewritten bool) bool {
	if plan.Mode == plans.RefreshOnlyMode {
		// The stock tool takes some objects for changed whatever they are (neverSame).
		// It minds new outputs and values, but not outputs that are gone, nor values that are
		// not known, nor mere moves; and of outputs how precise the numbers in them are, which
		// is less for length's than for those of the state, however equal.
		return rewritten ||
			slices.ContainsFunc(plan.Drift, func(c *plans.ResourceChange) bool { return c.Action != plans.NoOp }) ||
			slices.ContainsFunc(plan.Outputs, func(o *plans.OutputChange) bool {
				return (o.Action == plans.Create || o.Action == plans.Update) && marks.Plain(o.After).IsWhollyKnown()
			})
	}
	if len(plan.ForgottenData(plan.PriorState)) > 0 {
		return true
	}
	for _, c := range plan.Changes {
		if c.Action != plans.NoOp || c.Importing != nil || c.PrevAddr != c.Addr.Instance {
			return true
		}
	}
	return slices.ContainsFunc(plan.Outputs, func(o *plans.OutputChange) bool { return o.Action != plans.NoOp })
}
