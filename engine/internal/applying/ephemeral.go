package applying

import (
	"context"
	"maps"
	"slices"

	"github.com/zclconf/go-cty/cty"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/config"
	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/engine/internal/session"
	"github.com/lockstep-iac/lockstep/engine/plans"
)

// Ephemeral resources have no steps: they are no changes, and the plan has none of their values. Each is
// opened once, when its value is first needed, and stays open until the end, since the provider of a later
// step may have a connection through it. Terraform's graph has a node that opens each ephemeral resource.
// Here one rule replaces these nodes: before a block is applied, all ephemeral resources that it depends on
// are open.
// Source: https://developer.hashicorp.com/terraform/language/block/ephemeral

// openRest opens the ephemeral resources that nothing needed, as planning does. It does not open ephemeral
// resources that depend on a failure.
func (v *values) openRest(ctx context.Context) {
	if v.plan.Mode == plans.DestroyMode || len(v.plan.Targets) > 0 || ctx.Err() != nil {
		return
	}
	for _, abs := range slices.SortedFunc(maps.Keys(v.plan.Instances.Resources), addrs.AbsResource.Compare) {
		if abs.Resource.Mode == addrs.Ephemeral && !v.failures.needs(abs) {
			v.resource(ctx, abs, nil)
		}
	}
}

// openNeeded opens the ephemeral resources that a block depends on, even if the block has them only in
// depends_on: a tunnel must be open before the connection through it.
func (v *values) openNeeded(ctx context.Context, cr addrs.ConfigResource) diags.Diagnostics {
	v.mu.Lock()
	list, known := v.needed[cr]
	if !known {
		list = v.ephemeralsOf(cr)
		v.needed[cr] = list
	}
	v.mu.Unlock()
	for _, abs := range list {
		if _, ds := v.resource(ctx, abs, nil); ds.HasErrors() {
			return diags.Reported()
		}
	}
	return nil
}

// ephemeralsOf returns the ephemeral resources that a block depends on, in every instance
// of their modules, sorted.
func (v *values) ephemeralsOf(cr addrs.ConfigResource) []addrs.AbsResource {
	of := map[addrs.ConfigResource]bool{}
	for _, o := range v.s.Refs.Resources(addrs.Object{Module: cr.Module, Kind: addrs.KindResource, Res: cr.Resource}) {
		if o.Kind == addrs.KindResource && o.Res.Mode == addrs.Ephemeral {
			of[addrs.ConfigResource{Module: o.Module, Resource: o.Res}] = true
		}
	}
	if len(of) == 0 {
		return nil
	}
	var out []addrs.AbsResource
	for abs := range v.plan.Instances.Resources {
		if of[abs.Config()] {
			out = append(out, abs)
		}
	}
	slices.SortFunc(out, addrs.AbsResource.Compare)
	return out
}

// openEphemeral opens an ephemeral resource instance for this apply.
func (v *values) openEphemeral(ctx context.Context, m *config.Module, r *config.Resource, addr addrs.AbsResourceInstance) (cty.Value, diags.Diagnostics) {
	val, ds := v.tryEphemeral(ctx, m, r, addr)
	if ds.HasErrors() {
		v.failures.block(addr.Config())
	}
	return val, ds
}

// tryEphemeral opens the instance. Each part may fail because another resource has failed, which is already
// reported. openEphemeral records the failure in any case.
func (v *values) tryEphemeral(ctx context.Context, m *config.Module, r *config.Resource, addr addrs.AbsResourceInstance) (cty.Value, diags.Diagnostics) {
	scope, ds := v.scope(addr, r)
	if ds.HasErrors() {
		return cty.DynamicVal, ds
	}
	pc, ds := v.s.InstanceProvider(m.ResourceUse(r), scope)
	if ds.HasErrors() {
		return cty.DynamicVal, ds
	}
	client, ds := v.s.Client(ctx, pc)
	if ds.HasErrors() {
		return cty.DynamicVal, ds
	}
	rs, _, ds := v.s.Schema(ctx, pc.Provider, r.Addr, r.TypeRange.Ptr())
	if ds.HasErrors() {
		return cty.DynamicVal, ds
	}
	return v.s.OpenEphemeral(ctx, session.Ephemeral{Addr: addr, Provider: pc, Client: client, Resource: r, Schema: rs, Scope: scope})
}
