package planning

import (
	"context"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/engine/internal/session"
	"github.com/lockstep-iac/lockstep/engine/plans"
	"github.com/lockstep-iac/lockstep/engine/states"
)

// A plan that destroys is made in two parts, as by Terraform. First everything is planned as
// usual. So data sources and provider configurations have the values that they would have, and the
// prior state is up to date. Of that plan nothing is kept; but its errors are errors of the
// destroy, and there is no plan then. Conditions that are not met are no obstacle. Without
// refreshing, or with an empty state, this part is left out; then the second part upgrades the objects
// of the prior state to the present schemas, and shows the addresses that they had before a move.
//
// Then the deletion of every object in the prior state is planned. Errors there, such as those of
// prevent_destroy, make an errored plan without the deletions of the dependencies of the objects
// that stay (see drafts.Refusals).

// destroy plans the deletion of the objects that the prior state has of a resource. Errors are
// refusals, so that one protected object does not hide the others. An interruption and a provider
// that cannot be opened are none: after these there is no plan.
func (p *planner) destroy(ctx context.Context, cr addrs.ConfigResource) diags.Diagnostics {
	for _, abs := range p.inState[cr] {
		b, list, ds := p.remaining(ctx, abs)
		if ds.HasErrors() {
			return ds
		}
		found := make([]diags.Diagnostics, len(list))
		interrupted := each(ctx, len(list), func(ctx context.Context, i int) {
			found[i] = b.complete(b.destroy(ctx, list[i]), list[i].Instance)
		})
		for i, ds := range found {
			p.refusals.Add(list[i], ds)
		}
		if interrupted.HasErrors() {
			return interrupted
		}
	}
	return nil
}

// remaining returns the objects that the prior state has of a resource, and their block, opened for
// deletion. A resource with a block has the provider configuration of the block, even if the state has another
// one: the block may have been moved to another alias, and the state knows of it only after the next apply. A
// resource without a block has the stored one.
func (p *planner) remaining(ctx context.Context, abs addrs.AbsResource) (*block, []addrs.ResourceInstanceObject, diags.Diagnostics) {
	pc, own, ok := p.prior.Provider(abs)
	if !ok {
		return nil, nil, nil
	}
	var list []addrs.ResourceInstanceObject
	for _, a := range p.prior.Instances(abs) {
		if p.toDestroy.hasInstance(a) {
			list = append(list, p.prior.Objects(a)...)
		}
	}
	b := &block{p: p, cr: abs.Config(), pc: pc}
	if m := p.in.Config.Modules[b.cr.Module]; m != nil && m.Resources[abs.Resource] != nil {
		b.m, b.r = m, m.Resources[abs.Resource]
		b.use = m.ResourceUse(b.r)
		b.pc = b.use.Config
	}
	var ds, more diags.Diagnostics
	if b.rs, b.ps, ds = p.s.Schema(ctx, b.pc.Provider, abs.Resource, nil); ds.HasErrors() {
		return nil, nil, ds
	}
	if b.use.Key == nil && !own {
		b.client, more = p.s.Client(ctx, b.pc)
	}
	return b, list, append(ds, more...)
}

// destroy plans the deletion of one object.
func (b *block) destroy(ctx context.Context, obj addrs.ResourceInstanceObject) diags.Diagnostics {
	b, ds := b.forObject(ctx, obj.Instance)
	if ds.HasErrors() {
		return ds
	}
	o := b.p.prior.Object(obj)
	v, ds := b.p.s.Decode(ctx, b.client, obj.Instance, b.rs, o)
	if ds.HasErrors() {
		return ds
	}
	identity, more := b.p.s.DecodeIdentity(ctx, b.client, obj.Instance, b.rs, o)
	if ds = append(ds, more...); more.HasErrors() {
		return ds
	}
	found := refreshed{object: o, value: v, identity: identity}
	if !b.p.usual() {
		more := b.upgrade(obj, found)
		if ds = append(ds, more...); more.HasErrors() {
			return ds
		}
	}
	same, more := b.sameAsCurrent(ctx, obj, v)
	if ds = append(ds, more...); more.HasErrors() {
		return ds
	}
	if same {
		b.p.changes.Keep(b.forgetting(obj, found, plans.ReasonForgetBecauseCurrent))
		return ds
	}
	change, more := b.delete(ctx, obj, found, plans.ReasonNone)
	if ds = append(ds, more...); ds.HasErrors() {
		return ds
	}
	b.p.changes.Keep(change)
	return append(ds, b.allowed(change)...)
}

// upgrade puts the decoded value of an object into the prior state, where no refresh has: in the form
// of the present schema, with the paths that it declares sensitive. Source:
// internal/terraform/node_resource_plan_destroy.go of Terraform 1.11.
func (b *block) upgrade(obj addrs.ResourceInstanceObject, found refreshed) diags.Diagnostics {
	o := found.object
	next, err := session.Encode(found.value, b.rs, session.Encoding{
		Status: o.Status, Identity: session.EncodeIdentity(found.identity, b.rs, o.Identity), Private: o.Private, Dependencies: o.Dependencies, CreateBeforeDestroy: o.CreateBeforeDestroy, SkipDestroy: o.SkipDestroy,
	})
	if err != nil {
		return diags.FromError("Invalid object in the state", err)
	}
	next.Extra = o.Extra
	b.p.prior.SetObject(obj, b.pc, next)
	return nil
}

// storedDependencies returns the dependencies that the prior state has of an object to destroy.
func (p *planner) storedDependencies(obj addrs.ResourceInstanceObject) *states.Dependencies {
	return p.prior.Object(obj).Dependencies
}
