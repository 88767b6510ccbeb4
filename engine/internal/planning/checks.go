package planning

import (
	"maps"
	"slices"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/eval"
	"github.com/lockstep-iac/lockstep/engine/internal/session"
	"github.com/lockstep-iac/lockstep/engine/plans"
	"github.com/lockstep-iac/lockstep/engine/states"
)

// checkResults groups the results of conditions by block. A destroy checks nothing. It lists only root outputs
// with conditions, and only if it destroys everything.
//
// A plan also lists blocks whose conditions were not evaluated, as unknown. Programs that read the plan can so
// distinguish an object without a result from one without conditions. Source: Terraform 1.11.4.
func (p *planner) checkResults() []states.CheckResult {
	if p.in.Mode != plans.DestroyMode {
		return session.CheckResults(p.in.Config, p.s.Eval.Checks(), nil)
	}
	var list []eval.Checked
	root := p.in.Config.Root
	for _, name := range slices.Sorted(maps.Keys(root.Outputs)) {
		if o := root.Outputs[name]; len(o.Preconditions) > 0 && !p.selected.Partial() {
			list = append(list, eval.Checked{Subject: eval.OutputSubject(root.Addr, addrs.RootModuleInstance, o), Status: eval.Unknown})
		}
	}
	return session.CheckResults(p.in.Config, list, nil)
}
