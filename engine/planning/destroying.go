package planning

import (
	"context"
	"slices"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/engine/plans"
	"github.com/lockstep-iac/lockstep/engine/states"
)

/*
A destroy is planned in two parts, as by the stock tool. First everything is planned as
usual, so that data sources and provider configurations have the values that they
would have, and the prior state is up to date; of that plan, nothing is kept, but what is
wrong with it is wrong with the destroy: there is no plan then. Conditions that are not
met are no obstacle. Without refreshing, or without a state, this part is left out.

Then the deletion of all that the prior state has is planned. What goes wrong there
makes an errored plan, in which what the object depends on that cannot be destroyed has
no part.
*/

// usual reports whether everything is planned as usual, be it only as the first part
// of a destroy.
func (p *planner) usual() bool {
	return p.in.Mode != plans.DestroyMode || !p.in.SkipRefresh && !p.in.State.IsEmpty()
}

// destroy plans the deletion of what the prior state has of a resource.
func (p *planner) destroy(ctx context.Context, cr addrs.ConfigResource) diags.Diagnostics {
	for _, abs := range p.byConfig[cr] {
		b, list, ds := p.remaining(ctx, abs)
		if ds.HasErrors() {
			return ds
		}
		found := make([]diags.Diagnostics, len(list))
		interrupted := each(ctx, len(list), func(ctx context.Context, i int) {
			found[i] = b.complete(b.destroy(ctx, list[i]), list[i].Instance)
		})
		p.mu.Lock()
		for i, ds := range found {
			if len(ds) > 0 {
				p.late = append(p.late, refusal{list[i], ds})
			}
		}
		p.mu.Unlock()
		if interrupted.HasErrors() {
			return interrupted
		}
	}
	return nil
}

// remaining returns the objects that the prior state has of a resource, and what is
// needed to delete them.
func (p *planner) remaining(ctx context.Context, abs addrs.AbsResource) (*block, []addrs.ResourceInstanceObject, diags.Diagnostics) {
	p.mu.Lock()
	r := p.prior.Current().Resource(abs)
	p.mu.Unlock()
	if r == nil {
		return nil, nil, nil
	}
	var list []addrs.ResourceInstanceObject
	for k := range r.Instances {
		if a := abs.Instance(k); p.toDestroy.HasInstance(a) {
			list = append(list, p.objectsOf(a)...)
		}
	}
	slices.SortFunc(list, func(a, b addrs.ResourceInstanceObject) int { return a.Instance.Compare(b.Instance) })
	b := &block{p: p, cr: abs.Config(), pc: r.Provider}
	if m := p.in.Config.Modules[b.cr.Module]; m != nil && m.Resources[abs.Resource] != nil {
		b.m, b.r = m, m.Resources[abs.Resource]
		b.use = m.ResourceUse(b.r)
		b.pc = b.use.Config
	}
	var ds, more diags.Diagnostics
	if b.rs, b.ps, ds = p.s.Schema(ctx, b.pc.Provider, abs.Resource, nil); ds.HasErrors() {
		return nil, nil, ds
	}
	if b.use.Key == nil && !ownProviders(r) {
		b.client, more = p.s.Client(ctx, b.pc)
	}
	return b, list, append(ds, more...)
}

// destroy plans the deletion of one object.
func (b *block) destroy(ctx context.Context, obj addrs.ResourceInstanceObject) diags.Diagnostics {
	b, ds := b.stored(ctx, obj.Instance)
	if ds.HasErrors() {
		return ds
	}
	o := b.p.object(obj)
	v, ds := b.p.s.Decode(ctx, b.client, obj.Instance, b.rs, o)
	if ds.HasErrors() {
		return ds
	}
	change, more := b.delete(ctx, obj, existing{o, v}, plans.ReasonNone)
	if ds = append(ds, more...); ds.HasErrors() {
		return ds
	}
	b.p.keep(change)
	return append(ds, b.allowed(change)...)
}

// A refusal is what is wrong with the destruction of one object.
type refusal struct {
	obj addrs.ResourceInstanceObject
	ds  diags.Diagnostics
}

// withhold takes what must not be destroyed out of the plan, as something that depends on
// it cannot be, and returns what is wrong.
func (p *planner) withhold() diags.Diagnostics {
	// Without an error there is nothing to withhold, nor to look for.
	if !slices.ContainsFunc(p.late, func(r refusal) bool { return r.ds.HasErrors() }) {
		return p.refusals(nil)
	}
	kept := needs{}
	for _, r := range p.late {
		if o := p.object(r.obj); r.ds.HasErrors() && r.obj.Deposed == addrs.NotDeposed && o != nil {
			kept.add(r.obj.Instance.Module, o.Dependencies)
		}
	}
	for grown := true; grown; {
		grown = false
		p.changes = slices.DeleteFunc(p.changes, func(c *plans.ResourceChange) bool {
			if c.Addr.Deposed != addrs.NotDeposed || !kept.has(c.Addr.Instance.AbsResource()) {
				return false
			}
			kept.add(c.Addr.Instance.Module, c.StoredDeps)
			grown = true
			return true
		})
	}
	return p.refusals(kept)
}

// refusals returns what is wrong with the destruction of objects that others do not need.
func (p *planner) refusals(kept needs) diags.Diagnostics {
	var ds diags.Diagnostics
	for _, r := range p.late {
		if r.obj.Deposed != addrs.NotDeposed || !kept.has(r.obj.Instance.AbsResource()) {
			ds = append(ds, r.ds...)
		}
	}
	return ds
}

// needs are the resources that some objects depend on, in all module instances or in one.
type needs map[need]bool

type need struct {
	resource addrs.ConfigResource
	in       addrs.ModuleInstance
	all      bool
}

// add adds what an object in a module instance depends on. Within its module, that is what is in
// the same instance.
func (n needs) add(in addrs.ModuleInstance, d *states.Dependencies) {
	for _, cr := range d.All() {
		if cr.Module == in.Module() {
			n[need{resource: cr, in: in}] = true
		} else {
			n[need{resource: cr, all: true}] = true
		}
	}
}

func (n needs) has(abs addrs.AbsResource) bool {
	return n[need{resource: abs.Config(), all: true}] || n[need{resource: abs.Config(), in: abs.Module}]
}
