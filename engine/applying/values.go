package applying

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/config"
	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/engine/eval"
	"github.com/lockstep-iac/lockstep/engine/plans"
	"github.com/lockstep-iac/lockstep/engine/schema"
	"github.com/lockstep-iac/lockstep/engine/session"
)

// resourceValue is the evaluator's window on resources: what the state has by
// now. The order of steps sees to it that a resource, or what only asks for, is complete
// when it is asked for, so the value of a whole resource is made once.
//
// A stop ends calls to providers for ephemeral resources only: outputs are still recorded from
// the stored objects after it.
func (a *applier) resourceValue(ctx context.Context, abs addrs.AbsResource, only []addrs.InstanceKey) (cty.Value, diags.Diagnostics) {
	if abs.Resource.Mode != addrs.Ephemeral {
		ctx = context.WithoutCancel(ctx)
	}
	if only != nil && a.someOf(abs, only) {
		return a.instancesValue(ctx, abs, only)
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
	c.once.Do(func() { c.val, c.ds = a.collect(ctx, abs) })
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
	a.mu.Lock()
	defer a.mu.Unlock()
	known := a.keys[abs]
	if known == nil {
		known = make(map[addrs.InstanceKey]bool, len(keys))
		for _, k := range keys {
			known[k] = true
		}
		a.keys[abs] = known
	}
	return !slices.ContainsFunc(only, func(k addrs.InstanceKey) bool { return !known[k] })
}

// instancesValue returns an object of some instances of a resource, by their keys as
// strings, which the index operator takes for a list as well. Nobody will look at the other
// instances: they may not be complete yet, and there may be thousands for each that is
// mentioned.
func (a *applier) instancesValue(ctx context.Context, abs addrs.AbsResource, only []addrs.InstanceKey) (cty.Value, diags.Diagnostics) {
	a.mu.Lock()
	failed := slices.ContainsFunc(only, func(k addrs.InstanceKey) bool { return a.failed[abs][k] })
	a.mu.Unlock()
	if failed {
		return cty.DynamicVal, diags.Reported()
	}
	x, ds := a.collector(ctx, abs)
	if ds.HasErrors() {
		return cty.DynamicVal, diags.Reported()
	}
	there := a.there(abs, x.r.Repetition)
	vals := make(map[string]cty.Value, len(only))
	for _, k := range only {
		if there != nil && !there[k] {
			continue
		}
		v, ds := x.value(ctx, k)
		if ds.HasErrors() {
			return cty.DynamicVal, diags.Reported()
		}
		name, err := convert.Convert(k.Value(), cty.String)
		if err != nil {
			panic(fmt.Sprintf("applying: key of %s: %s", abs.Instance(k), err))
		}
		vals[name.AsString()] = v
	}
	return cty.ObjectVal(vals), nil
}

// there returns which instances the value of a resource has where not all that the
// configuration wants is planned; nil if it is. Source: as in [applier.collect], but for when
// others of them may not be made yet.
func (a *applier) there(abs addrs.AbsResource, r config.Repetition) map[addrs.InstanceKey]bool {
	if !a.in.Plan.Partial() && a.in.Plan.Mode != plans.RefreshOnlyMode {
		return nil
	}
	doomed, made := a.doomed(), a.made()
	a.mu.Lock()
	defer a.mu.Unlock()
	if out := a.thereOf[abs]; out != nil {
		return out
	}
	keys := slices.Clone(made[abs])
	if was := a.in.Plan.PriorState.Resource(abs); was != nil {
		for k := range was.Instances {
			if !doomed[abs.Instance(k)] {
				keys = append(keys, k)
			}
		}
	}
	out := map[addrs.InstanceKey]bool{}
	for _, k := range session.Existing(r, a.in.Plan.Instances.Resources[abs], keys) {
		out[k] = true
	}
	a.thereOf[abs] = out
	return out
}

// collect makes the value of a resource from those of its instances.
func (a *applier) collect(ctx context.Context, abs addrs.AbsResource) (cty.Value, diags.Diagnostics) {
	x, ds := a.collector(ctx, abs)
	if ds.HasErrors() {
		return cty.DynamicVal, ds
	}
	keys, planned := a.in.Plan.Instances.Resources[abs]
	if !planned {
		return cty.DynamicVal, nil // not part of this plan
	}
	if abs.Resource.Mode != addrs.Ephemeral && (a.in.Plan.Partial() || a.in.Plan.Mode == plans.RefreshOnlyMode) {
		keys = session.Existing(x.r.Repetition, keys, a.existing(abs))
	}
	insts := make([]eval.Instance, len(keys))
	vals := make([]cty.Value, len(keys))
	for i, k := range keys {
		insts[i] = eval.Instance{Key: k}
		if vals[i], ds = x.value(ctx, k); ds.HasErrors() {
			return cty.DynamicVal, ds
		}
	}
	return a.s.Eval.CollectResource(x.r, insts, vals), nil
}

// existing returns the keys of the instances that the state has of a resource, less those
// that are still to be deleted.
func (a *applier) existing(abs addrs.AbsResource) []addrs.InstanceKey {
	doomed := a.doomed()
	a.mu.Lock()
	defer a.mu.Unlock()
	var keys []addrs.InstanceKey
	if r := a.state.Current().Resource(abs); r != nil {
		for k := range r.Instances {
			if !doomed[abs.Instance(k)] {
				keys = append(keys, k)
			}
		}
	}
	return keys
}

// A collector knows what the values of a resource's instances are made from.
type collector struct {
	a   *applier
	abs addrs.AbsResource
	m   *config.Module
	r   *config.Resource
	rs  *schema.Schema
}

func (a *applier) collector(ctx context.Context, abs addrs.AbsResource) (collector, diags.Diagnostics) {
	m := a.in.Config.Modules[abs.Module.Module()]
	x := collector{a: a, abs: abs, m: m, r: m.Resources[abs.Resource]}
	var ds diags.Diagnostics
	x.rs, _, ds = a.s.Schema(ctx, m.ResourceProvider(x.r).Provider, x.r.Addr, x.r.TypeRange.Ptr())
	if ds.HasErrors() {
		a.report(ds)
	}
	return x, ds
}

// value returns the value of one instance.
func (x collector) value(ctx context.Context, k addrs.InstanceKey) (cty.Value, diags.Diagnostics) {
	a, addr := x.a, x.abs.Instance(k)
	if x.abs.Resource.Mode == addrs.Ephemeral {
		v, ds := a.openEphemeral(ctx, x.m, x.r, addr)
		if ds.HasErrors() {
			a.report(ds)
		}
		return v, ds
	}
	o := a.object(addrs.ResourceInstanceObject{Instance: addr})
	if o == nil {
		if a.in.Plan.Mode == plans.NormalMode && !a.in.Plan.Partial() {
			return cty.DynamicVal, diags.Reported() // it was not made, for a reason reported elsewhere
		}
		return cty.UnknownVal(x.rs.Block.ImpliedType()), nil
	}
	v, ds := a.s.Stored(addr, x.rs, o)
	if ds.HasErrors() {
		a.report(ds)
	}
	return v, ds
}

// openEphemerals opens those ephemeral resources that nothing needed, as planning did. What
// depends on a failure is left out.
func (a *applier) openEphemerals(ctx context.Context) {
	if a.in.Plan.Mode == plans.DestroyMode || len(a.in.Plan.Targets) > 0 || ctx.Err() != nil {
		return
	}
	for _, abs := range slices.SortedFunc(maps.Keys(a.in.Plan.Instances.Resources), addrs.AbsResource.Compare) {
		if abs.Resource.Mode == addrs.Ephemeral && !a.needsFailed(abs) {
			a.resourceValue(ctx, abs, nil)
		}
	}
}

// openNeeded opens the ephemeral resources that a block depends on, whether it uses their
// values or only names them in depends_on: a tunnel is there before what goes through it.
func (a *applier) openNeeded(ctx context.Context, cr addrs.ConfigResource) diags.Diagnostics {
	a.mu.Lock()
	list, known := a.needed[cr]
	if !known {
		list = a.ephemeralsOf(cr)
		a.needed[cr] = list
	}
	a.mu.Unlock()
	for _, abs := range list {
		if _, ds := a.resourceValue(ctx, abs, nil); ds.HasErrors() {
			return diags.Reported()
		}
	}
	return nil
}

// ephemeralsOf returns the ephemeral resources that a block depends on, in every instance
// of their modules, sorted.
func (a *applier) ephemeralsOf(cr addrs.ConfigResource) []addrs.AbsResource {
	of := map[addrs.ConfigResource]bool{}
	for _, o := range a.in.Refs.Resources(addrs.Object{Module: cr.Module, Kind: addrs.KindResource, Res: cr.Resource}) {
		if o.Kind == addrs.KindResource && o.Res.Mode == addrs.Ephemeral {
			of[addrs.ConfigResource{Module: o.Module, Resource: o.Res}] = true
		}
	}
	if len(of) == 0 {
		return nil
	}
	var out []addrs.AbsResource
	for abs := range a.in.Plan.Instances.Resources {
		if of[abs.Config()] {
			out = append(out, abs)
		}
	}
	slices.SortFunc(out, addrs.AbsResource.Compare)
	return out
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
	v, ds := a.tryEphemeral(ctx, m, r, addr)
	if ds.HasErrors() {
		a.mu.Lock()
		a.unmade[addr.Config()] = true
		a.mu.Unlock()
	}
	return v, ds
}

func (a *applier) tryEphemeral(ctx context.Context, m *config.Module, r *config.Resource, addr addrs.AbsResourceInstance) (cty.Value, diags.Diagnostics) {
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
	if r.Count == nil && r.ForEach == nil && r.Enabled == nil {
		return eval.Scope{Module: addr.Module}, nil
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
