package planning

import (
	"context"
	"maps"
	"slices"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/engine/plans"
	"github.com/lockstep-iac/lockstep/engine/session"
)

// checkOrphans reports the resources of the state that have neither a block nor, any more,
// the provider configuration that they were made with. Nothing can be planned then, whatever
// part of the configuration was asked for: the next plan for all of it would fail.
func (p *planner) checkOrphans() diags.Diagnostics {
	var ds diags.Diagnostics
	resources := maps.Collect(p.prior.Current().Resources())
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

// orphanVisitor returns the visit of a resource that has no block any more.
func (p *planner) orphanVisitor(cr addrs.ConfigResource) func(context.Context) diags.Diagnostics {
	return func(ctx context.Context) diags.Diagnostics {
		var ds diags.Diagnostics
		for _, abs := range p.byConfig[cr] {
			if cr.Resource.Mode == addrs.Data {
				p.forgetData(abs)
				continue
			}
			ds = append(ds, p.orphanResource(ctx, abs)...)
		}
		return ds
	}
}

// forgetData drops a data source that is not configured any more from the state.
func (p *planner) forgetData(abs addrs.AbsResource) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if r := p.prior.Current().Resource(abs); r != nil {
		for k := range r.Instances {
			if a := abs.Instance(k); p.selected.HasInstance(a) {
				p.prior.RemoveInstance(a)
			}
		}
	}
}

// orphanResource plans the deletion of all instances of a resource without block.
func (p *planner) orphanResource(ctx context.Context, abs addrs.AbsResource) diags.Diagnostics {
	p.mu.Lock()
	r := p.prior.Current().Resource(abs)
	p.mu.Unlock()
	if r == nil {
		return nil
	}
	list := make([]addrs.AbsResourceInstance, 0, len(r.Instances))
	for k := range r.Instances {
		list = append(list, abs.Instance(k))
	}
	slices.SortFunc(list, addrs.AbsResourceInstance.Compare)
	b := &block{p: p, cr: abs.Config(), pc: r.Provider}
	var ds, more diags.Diagnostics
	if b.rs, b.ps, ds = p.s.Schema(ctx, r.Provider.Provider, abs.Resource, nil); ds.HasErrors() {
		return ds
	}
	if !ownProviders(r) {
		if b.client, more = p.s.Client(ctx, r.Provider); more.HasErrors() {
			return append(ds, more...)
		}
	}
	if kept, more := p.removed(ctx, b, list); kept {
		return append(ds, more...)
	}
	// Also if its module is gone: "no module" is for a block whose module has fewer
	// instances.
	return append(ds, b.deleteAll(ctx, list, p.orphanReason)...)
}

// orphanReason says why an instance of a resource without block is not wanted.
func (p *planner) orphanReason(a addrs.AbsResourceInstance) plans.Reason {
	if _, moved := p.moved.Origins[a]; moved {
		return plans.ReasonDeleteBecauseNoMoveTarget
	}
	return plans.ReasonDeleteBecauseNoConfig
}
