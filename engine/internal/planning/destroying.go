package planning

import (
	"context"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/engine/internal/session"
	"github.com/lockstep-iac/lockstep/engine/plans"
	"github.com/lockstep-iac/lockstep/engine/states"
)

// A plan that destroys has two parts, as in Terraform. First everything is planned as usual, so that data
// sources and provider configurations have their usual values, and the prior state is up to date. This plan
// is dropped. But its errors are errors of the destroy, and then there is no plan. Failed conditions are no
// obstacle. Without refreshing, or with an empty state, the first part is skipped. Then the second part
// upgrades the objects of the prior state to the current schemas, and shows the addresses that they had
// before a move.
//
// In the second part, the deletion of every object in the prior state is planned. After errors, such as those
// of prevent_destroy, the plan is errored, and does not delete the dependencies of the objects that stay (see
// drafts.Refusals).

// destroy plans the deletion of all objects that the prior state has of a resource. Errors about an object
// are recorded as refusals, so that one protected object does not hide others. An interruption, or a provider
// that cannot be opened, is not a refusal: after these there is no plan.
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

// remaining returns the objects that the prior state has of a resource, and the block, opened for deletion. A
// resource with a block uses the provider configuration of the block, even if the state has another one: the
// block may have changed to another alias, which the state learns with the next apply. A resource without a
// block uses the stored one.
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

// upgrade puts the decoded value of an object into the prior state, if no refresh has done so. The value has
// the current schema, and the paths that the schema declares sensitive. Source:
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

// storedDependencies returns the dependencies of an object to destroy that are stored in the prior state.
func (p *planner) storedDependencies(obj addrs.ResourceInstanceObject) *states.Dependencies {
	return p.prior.Object(obj).Dependencies
}
