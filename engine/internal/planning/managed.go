package planning

import (
	"context"

	"github.com/zclconf/go-cty/cty"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/config"
	"github.com/lockstep-iac/lockstep/engine/diags"
)

// visitBlock plans all instances of a resource block, and sets the value of the resource.
//
// The whole block is one node of the walk, because references belong to the block, not to its instances. As
// in Terraform, no instance of a resource is planned before all instances of the resources that it refers to.
// Instances of a block are planned in parallel. The value of the resource is set last, because it consists of
// the values of all instances; after an error there is none.
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

// planManaged plans the declared instances of a managed resource, and the deletion of those that only the
// state has. Data sources and triggers that refer to the resource must see its deletions, too, so both belong
// to one visit.
//
// Import blocks are evaluated first, because they may name instances that the block does not declare. That is
// an error of the block, before anything else of the block is planned.
func (x *expanded) planManaged(ctx context.Context) diags.Diagnostics {
	ds := x.p.imports.Evaluate(x.cr, x.rs, x.declares)
	if ds.HasErrors() {
		return ds
	}
	ds = append(ds, x.each(ctx, func(ctx context.Context, b *block, j *job) (cty.Value, diags.Diagnostics) {
		in := &instance{block: b, addr: j.addr, scope: j.scope()}
		v, ds := in.plan(ctx)
		j.unchanged = in.unchanged
		return v, append(ds, b.deleteDeposed(ctx, j.addr)...)
	})...)
	return append(ds, x.deleteUndeclared(ctx)...)
}
