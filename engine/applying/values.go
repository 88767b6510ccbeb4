package applying

import (
	"context"
	"maps"
	"slices"

	"github.com/zclconf/go-cty/cty"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/config"
	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/engine/eval"
	"github.com/lockstep-iac/lockstep/engine/plans"
	"github.com/lockstep-iac/lockstep/engine/session"
)

// resourceValue is the evaluator's window on resources: what the state has by
// now. The order of steps sees to it that a resource, or what only asks for, is complete
// when it is asked for, so the value of a whole resource is made once.
func (a *applier) resourceValue(abs addrs.AbsResource, only []addrs.InstanceKey) (cty.Value, diags.Diagnostics) {
	if only != nil && a.someOf(abs, only) {
		return a.instancesValue(abs, only)
	}
	a.mu.Lock()
	if len(a.failed[abs]) > 0 {
		a.mu.Unlock()
		return cty.DynamicVal, diags.Reported()
	}
	c := a.values[abs]
	if c == nil {
		c = new(valueCell)
		a.values[abs] = c
	}
	a.mu.Unlock()
	c.once.Do(func() { c.val, c.ds = a.collect(context.Background(), abs, nil) })
	if c.ds.HasErrors() {
		return cty.DynamicVal, diags.Reported()
	}
	return c.val, nil
}

// someOf reports whether the resource has other instances than those, and all of those.
// Ephemeral resources are opened as a whole.
func (a *applier) someOf(abs addrs.AbsResource, only []addrs.InstanceKey) bool {
	keys := a.in.Plan.Instances.Resources[abs]
	if abs.Resource.Mode == addrs.Ephemeral || len(keys) < 2 {
		return false
	}
	return !slices.ContainsFunc(only, func(k addrs.InstanceKey) bool { return !slices.Contains(keys, k) })
}

// instancesValue returns the value of a resource of which nobody will look at other instances
// than some. The others may not be complete yet.
func (a *applier) instancesValue(abs addrs.AbsResource, only []addrs.InstanceKey) (cty.Value, diags.Diagnostics) {
	a.mu.Lock()
	failed := slices.ContainsFunc(only, func(k addrs.InstanceKey) bool { return a.failed[abs][k] })
	a.mu.Unlock()
	if failed {
		return cty.DynamicVal, diags.Reported()
	}
	v, ds := a.collect(context.Background(), abs, only)
	if ds.HasErrors() {
		return cty.DynamicVal, diags.Reported()
	}
	return v, nil
}

// collect makes the value of a resource from those of its instances: of all, or of only
// some, where the others are unknown.
func (a *applier) collect(ctx context.Context, abs addrs.AbsResource, only []addrs.InstanceKey) (cty.Value, diags.Diagnostics) {
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
		if only != nil && !slices.Contains(only, k) {
			vals[i] = cty.DynamicVal
			continue
		}
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

// openEphemerals opens those ephemeral resources that nothing needed, as planning did. What
// depends on a failure is left out.
func (a *applier) openEphemerals(ctx context.Context) {
	if a.in.Plan.Mode == plans.DestroyMode || len(a.in.Plan.Targets) > 0 || ctx.Err() != nil {
		return
	}
	for _, abs := range slices.SortedFunc(maps.Keys(a.in.Plan.Instances.Resources), addrs.AbsResource.Compare) {
		if abs.Resource.Mode == addrs.Ephemeral && !a.needsFailed(abs) {
			a.resourceValue(abs, nil)
		}
	}
}

// needsFailed reports whether something failed that a resource depends on.
func (a *applier) needsFailed(abs addrs.AbsResource) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	for r := range a.failed {
		for _, o := range a.in.Refs.Resources(addrs.Object{Module: abs.Module.Module(), Kind: addrs.KindResource, Res: abs.Resource}) {
			if o.Kind == addrs.KindResource && o.Module == r.Module.Module() && o.Res == r.Resource {
				return true
			}
		}
	}
	return false
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
