package planning

import (
	"slices"

	"github.com/lockstep-iac/lockstep/engine/marks"
	"github.com/lockstep-iac/lockstep/engine/plans"
)

// applyable reports whether applying would change anything.
//
// A plan that is not applyable is not offered for approval, and an apply of it does nothing. Drift alone does
// not make a plan applyable in normal mode, since the next plan finds it again. In refresh-only mode it does,
// since storing the drift is the purpose. An import, a move and a forgotten data source count, although they
// change only the state. An action counts, although it changes no object of the plan.
// Source: the member "applyable" in https://developer.hashicorp.com/terraform/internals/json-format
func applyable(plan *plans.Plan) bool {
	if len(plan.Invocations) > 0 {
		return true
	}
	if plan.Mode == plans.RefreshOnlyMode {
		// These differences make the plan applyable: new or changed outputs with known values, and drift, but
		// not mere moves, as in Terraform 1.11; and identities that the state lacks, as in Terraform 1.16.
		// Changed metadata of an unchanged object are not drift, as since Terraform 1.15:
		// https://github.com/hashicorp/terraform/issues/37406.
		return learnsIdentities(plan) || slices.ContainsFunc(plan.Drift, func(c *plans.ResourceChange) bool { return c.Action != plans.NoOp }) ||
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

// learnsIdentities reports whether the plan found a changed identity of an object. It looks only at objects
// whose addresses stay the same.
func learnsIdentities(plan *plans.Plan) bool {
	for abs, r := range plan.PriorState.Resources() {
		was := plan.PrevRunState.Resource(abs)
		if was == nil || was == r {
			continue
		}
		for key, in := range r.Instances {
			before := was.Instances[key]
			if before == nil || in.Current == nil || before.Current == nil || in.Current == before.Current {
				continue
			}
			if !in.Current.Identity.Equal(before.Current.Identity) {
				return true
			}
		}
	}
	return false
}
