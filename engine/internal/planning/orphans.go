package planning

import (
	"context"
	"maps"
	"slices"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/engine/internal/session"
)

// checkOrphans returns errors for resources of the state that have no block, and whose provider configuration
// no longer exists. Then nothing can be planned, even in a partial plan: the next complete plan would fail.
func (p *planner) checkOrphans() diags.Diagnostics {
	var ds diags.Diagnostics
	resources := maps.Collect(p.prior.State().Resources())
	for _, abs := range slices.SortedFunc(maps.Keys(resources), addrs.AbsResource.Compare) {
		if m := p.in.Config.Modules[abs.Module.Module()]; m != nil && m.Resources[abs.Resource] != nil || abs.Resource.Mode != addrs.Managed {
			continue
		}
		r := resources[abs]
		seen := map[addrs.AbsProviderConfig]bool{}
		for _, k := range slices.SortedFunc(maps.Keys(r.Instances), addrs.InstanceKey.Compare) {
			if pc := r.ProviderOf(k); !seen[pc] && !p.s.HasProvider(pc) {
				ds = append(ds, session.NoProvider(pc, abs.String())...)
				seen[pc] = true
			}
		}
	}
	return ds
}

// orphanVisitor returns the visit of a resource that has no block. A data source needs no deletion: it is
// removed from the state.
func (p *planner) orphanVisitor(cr addrs.ConfigResource) func(context.Context) diags.Diagnostics {
	return func(ctx context.Context) diags.Diagnostics {
		var ds diags.Diagnostics
		for _, abs := range p.inState[cr] {
			if cr.Resource.Mode == addrs.Data {
				p.forgetData(abs)
				continue
			}
			ds = append(ds, p.orphanResource(ctx, abs)...)
		}
		return ds
	}
}

// forgetData removes a data source without a block from the state.
func (p *planner) forgetData(abs addrs.AbsResource) {
	for _, a := range p.prior.Instances(abs) {
		if p.selected.hasInstance(a) {
			p.prior.RemoveInstance(a)
		}
	}
}

// orphanResource plans the deletion of all instances of a resource without a block. Everything that is known
// about it is in the state: the provider configuration, which must still exist (checkOrphans), and the
// dependencies. A removed block may keep the objects themselves (removed.go).
func (p *planner) orphanResource(ctx context.Context, abs addrs.AbsResource) diags.Diagnostics {
	pc, own, _ := p.prior.Provider(abs)
	list := p.prior.Instances(abs)
	b := &block{p: p, cr: abs.Config(), pc: pc}
	var ds, more diags.Diagnostics
	if b.rs, b.ps, ds = p.s.Schema(ctx, pc.Provider, abs.Resource, nil); ds.HasErrors() {
		return ds
	}
	if !own {
		if b.client, more = p.s.Client(ctx, pc); more.HasErrors() {
			return append(ds, more...)
		}
	}
	if kept, more := b.forget(ctx, list); kept {
		return append(ds, more...)
	}
	// The reason is that there is no resource block, even if the module is also gone. "No module" is the reason
	// only if there is a block, and its module has fewer instances than before.
	return append(ds, b.deleteAll(ctx, list, b.orphanReason)...)
}
