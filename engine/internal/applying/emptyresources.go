package applying

import (
	"context"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/plans"
	"github.com/lockstep-iac/lockstep/engine/states"
)

// emptyResources records resources without instances, as Terraform 1.11.4 does after an apply with failures.
// There are three kinds: resources that should have no instances (count = 0), resources with no instance that
// could be evaluated, and data sources that could not be read. Two are left out: a resource that a provider
// was asked to create, and one that was not reached because it depends on a failure. After an apply without
// failures there are no empty resources, and those left by an earlier failure are removed.
func (c *conclusion) emptyResources(ctx context.Context) {
	if ctx.Err() != nil {
		return // after a stop it is unknown which resources were reached
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

// addEmpty adds managed resources without instances. It leaves out resources that are in the state now or
// were in the prior state: whether they stay depends on the order of events.
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

// addUnread adds resources without instances for data sources that could not be read. It leaves out data
// sources that the apply did not reach.
func (c *conclusion) addUnread(e *states.Editor) {
	for _, x := range c.plan.Changes {
		abs := x.Addr.Instance.AbsResource()
		if x.Action == plans.Read && e.Current().Resource(abs) == nil && !c.failures.blocked(abs.Config()) {
			e.SetProvider(abs, x.Provider)
		}
	}
}
