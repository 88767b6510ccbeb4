package applying

import (
	"context"

	"github.com/zclconf/go-cty/cty"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/config"
	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/engine/eval"
	"github.com/lockstep-iac/lockstep/engine/plans"
	"github.com/lockstep-iac/lockstep/engine/session"
)

// resourceValue is the evaluator's window on resources: what the state has by
// now. The order of steps sees to it that a resource is complete when it is asked
// for, so its value is made once.
func (a *applier) resourceValue(abs addrs.AbsResource) (cty.Value, diags.Diagnostics) {
	a.mu.Lock()
	if a.failed[abs] {
		a.mu.Unlock()
		return cty.DynamicVal, diags.Reported()
	}
	c := a.values[abs]
	if c == nil {
		c = new(valueCell)
		a.values[abs] = c
	}
	a.mu.Unlock()
	c.once.Do(func() { c.val, c.ds = a.collect(context.Background(), abs) })
	if c.ds.HasErrors() {
		return cty.DynamicVal, diags.Reported()
	}
	return c.val, nil
}

// collect makes the value of a resource from those of its instances.
func (a *applier) collect(ctx context.Context, abs addrs.AbsResource) (cty.Value, diags.Diagnostics) {
	m := a.in.Config.Modules[abs.Module.Module()]
	r := m.Resources[abs.Resource]
	rs, _, ds := a.s.Schema(ctx, m.ResourceProvider(r).Provider, r.Addr, r.TypeRange.Ptr())
	if ds.HasErrors() {
		a.report(ds)
		return cty.DynamicVal, ds
	}
	keys, planned := a.in.Plan.Instances.Resources[abs]
	if !planned {
		return cty.DynamicVal, nil // not part of this plan
	}
	insts := make([]eval.Instance, len(keys))
	vals := make([]cty.Value, len(keys))
	for i, k := range keys {
		insts[i] = eval.Instance{Key: k}
		addr := abs.Instance(k)
		if abs.Resource.Mode == addrs.Ephemeral {
			var more diags.Diagnostics
			if vals[i], more = a.openEphemeral(ctx, m, r, addr); more.HasErrors() {
				a.report(more)
				return cty.DynamicVal, more
			}
			continue
		}
		o := a.object(addrs.ResourceInstanceObject{Instance: addr})
		if o == nil {
			if a.in.Plan.Mode == plans.NormalMode && !a.in.Plan.Partial() {
				return cty.DynamicVal, diags.Reported() // it was not made, for a reason reported elsewhere
			}
			vals[i] = cty.UnknownVal(rs.Block.ImpliedType())
			continue
		}
		v, more := a.s.Stored(addr, rs, o)
		if more.HasErrors() {
			a.report(more)
			return cty.DynamicVal, more
		}
		vals[i] = v
	}
	return a.s.Eval.Collect(r.Repetition, insts, vals), nil
}

// openEphemeral opens an ephemeral resource instance for this apply.
func (a *applier) openEphemeral(ctx context.Context, m *config.Module, r *config.Resource, addr addrs.AbsResourceInstance) (cty.Value, diags.Diagnostics) {
	scope, ds := a.scope(addr, r)
	if ds.HasErrors() {
		return cty.DynamicVal, ds
	}
	pc, ds := a.s.InstanceProvider(m.ResourceUse(r), scope)
	if ds.HasErrors() {
		return cty.DynamicVal, ds
	}
	client, ds := a.s.Client(ctx, pc)
	if ds.HasErrors() {
		return cty.DynamicVal, ds
	}
	rs, _, ds := a.s.Schema(ctx, pc.Provider, r.Addr, r.TypeRange.Ptr())
	if ds.HasErrors() {
		return cty.DynamicVal, ds
	}
	return a.s.OpenEphemeral(ctx, session.Ephemeral{Addr: addr, Client: client, Resource: r, Schema: rs, Scope: scope})
}

// scope returns the scope of an instance: which count or each it is.
func (a *applier) scope(addr addrs.AbsResourceInstance, r *config.Resource) (eval.Scope, diags.Diagnostics) {
	// Evaluating the calls on the way makes the module instances known.
	if _, ds := a.s.Eval.Modules(a.in.Config.Modules[addr.Module.Module()]); ds.HasErrors() {
		return eval.Scope{}, ds
	}
	abs := addr.AbsResource()
	a.mu.Lock()
	c := a.instances[abs]
	if c == nil {
		c = new(instancesCell)
		a.instances[abs] = c
	}
	a.mu.Unlock()
	c.once.Do(func() {
		list, ds := a.s.Eval.ResourceInstances(addr.Module, r)
		a.report(ds)
		c.by = make(map[addrs.InstanceKey]*eval.Instance, len(list))
		for i := range list {
			c.by[list[i].Key] = &list[i]
		}
		if c.ds = ds; ds.HasErrors() {
			c.ds = diags.Reported()
		}
	})
	if c.ds.HasErrors() {
		return eval.Scope{}, diags.Reported()
	}
	return eval.Scope{Module: addr.Module, Instance: c.by[addr.Resource.Key]}, nil
}
