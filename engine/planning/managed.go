package planning

import (
	"context"

	"github.com/zclconf/go-cty/cty"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/config"
	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/engine/plans"
)

// visitBlock plans all instances of a resource block, and gives the resource its value.
//
// The whole block is one node of the walk, since its references are those of the block and not of its
// instances: Terraform, too, plans no instance of a resource before all instances of the ones that
// it refers to. Instances are planned in parallel within the visit. The value of the resource comes
// last, because it is made of those of all instances; after an error there is none.
func (p *planner) visitBlock(ctx context.Context, m *config.Module, r *config.Resource) diags.Diagnostics {
	b, ds := p.open(ctx, m, r)
	if ds.HasErrors() {
		return ds
	}
	x, more := b.expand()
	if ds = append(ds, more...); ds.HasErrors() {
		return ds
	}
	switch r.Addr.Mode {
	case addrs.Data:
		more = x.planData(ctx)
	case addrs.Ephemeral:
		more = x.openEphemerals(ctx)
	default:
		more = x.planManaged(ctx)
	}
	if ds = append(ds, more...); !ds.HasErrors() {
		x.collect(ctx)
	}
	return ds
}

// planManaged plans the declared instances of a managed resource, and the deletion of those
// that only the state has. Both belong to one visit: data sources and triggers that refer to the
// resource must see its deletions, too, and they are planned after the visit.
//
// Import blocks come first, because they may name instances that the block does not declare. That is
// an error of the block, before anything of it is planned.
func (x *expanded) planManaged(ctx context.Context) diags.Diagnostics {
	ds := x.p.imports.evaluate(x.cr, x.declares)
	if ds.HasErrors() {
		return ds
	}
	ds = append(ds, x.each(ctx, func(ctx context.Context, b *block, j *job) (cty.Value, diags.Diagnostics) {
		in := &instance{block: b, addr: j.addr, scope: j.scope}
		v, ds := in.plan(ctx)
		return v, append(ds, b.deleteDeposed(ctx, j.addr)...)
	})...)
	return append(ds, x.deleteUndeclared(ctx)...)
}

// importObject brings the object of an instance into the prior state by its ID, if an import
// block asks for it and the state has none.
func (x *instance) importObject(ctx context.Context) (*plans.Importing, diags.Diagnostics) {
	im, ok := x.p.imports.at(x.addr)
	if !ok || x.p.prior.Object(x.object()) != nil {
		return nil, nil
	}
	if o := x.p.in.Found.Objects[x.addr]; o != nil {
		x.p.prior.SetObject(x.object(), x.pc, o)
		x.imported = true
		return &plans.Importing{ID: im.id}, nil
	}
	ds := x.fetch(ctx, x.addr, im.id)
	for i := range ds {
		if ds[i].Subject == nil {
			ds[i].Subject = im.rng
		}
	}
	if ds.HasErrors() {
		return nil, ds
	}
	x.imported = true
	return &plans.Importing{ID: im.id}, ds
}
