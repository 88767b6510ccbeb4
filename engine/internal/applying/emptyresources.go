package applying

import (
	"context"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/plans"
	"github.com/lockstep-iac/lockstep/engine/states"
)

// emptyResources records resources without instances, as Terraform 1.11.4 does after an apply with
// failures. They are of three kinds: resources that are to have no instances (count = 0), resources
// none of whose instances could be evaluated, and data that could not be read. Two are left out:
// a resource whose creation a provider was asked for, and one that depends on a failure, since its
// turn never came. After an apply without failures there are no empty resources, and
// those that an earlier failure has left are removed.
func (c *conclusion) emptyResources(ctx context.Context) {
	if ctx.Err() != nil {
		return // after a stop it is not known whose turn came
	}
	failed := c.s.Diagnostics().HasErrors() || c.s.Eval.Diagnostics().HasErrors() || c.report.all().HasErrors()
	c.record.edit(func(e *states.Editor) {
		if !failed {
			e.RemoveEmpty()
			return
		}
		if c.plan.Mode != plans.DestroyMode {
			c.addUnread(e)
			c.addEmpty(e)
		}
	})
}

// addEmpty adds managed resources without instances. One that is or was in the state is left alone: it
// depends on the order of events whether it goes or stays.
func (c *conclusion) addEmpty(e *states.Editor) {
	for abs := range c.plan.Instances.Resources {
		if abs.Resource.Mode != addrs.Managed || c.plan.PriorState.Resource(abs) != nil || e.Current().Resource(abs) != nil {
			continue
		}
		if cr := abs.Config(); !c.failures.leavesNothing(abs) && !c.failures.blocked(cr) {
			m := c.s.Config.Modules[cr.Module]
			e.SetProvider(abs, m.ResourceProvider(m.Resources[cr.Resource]))
		}
	}
}

// addUnread adds resources without instances for data that could not be read. Those whose turn
// did not come are left out.
func (c *conclusion) addUnread(e *states.Editor) {
	for _, x := range c.plan.Changes {
		abs := x.Addr.Instance.AbsResource()
		if x.Action == plans.Read && e.Current().Resource(abs) == nil && !c.failures.blocked(abs.Config()) {
			e.SetProvider(abs, x.Provider)
		}
	}
}
