package planning

import (
	"context"

	"github.com/zclconf/go-cty/cty"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/config"
	"github.com/lockstep-iac/lockstep/engine/diags"
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
	ds := x.p.imports.Evaluate(x.cr, x.rs, x.declares)
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
