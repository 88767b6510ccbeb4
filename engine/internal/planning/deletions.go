package planning

import (
	"context"
	"slices"

	"github.com/zclconf/go-cty/cty"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/engine/internal/session"
	"github.com/lockstep-iac/lockstep/engine/language"
	"github.com/lockstep-iac/lockstep/engine/marks"
	"github.com/lockstep-iac/lockstep/engine/plans"
	"github.com/lockstep-iac/lockstep/engine/provider"
	"github.com/lockstep-iac/lockstep/engine/states"
)

// Objects are deleted for three reasons: their instance is no longer declared, they were deposed by a
// replacement that did not finish, or the plan destroys everything. In all cases the object is refreshed
// first, so that an object that no longer exists needs no deletion. The provider may be asked (PlanDestroy).
// prevent_destroy may forbid the deletion; then the plan contains the change as an explanation, and an error.

// keeps reports whether an object is removed from the state without being destroyed: by destroy = false in
// its block, or, without a block, by the setting in the state, unless a removed block says destroy = true.
func (b *block) keeps(o *states.Object) bool {
	if b.r != nil {
		return b.r.Keep
	}
	return o.SkipDestroy && !removedBlockDestroys(b.p.in.Config, b.cr)
}

// keepReason returns the reason to show for an object that is removed from the state without being destroyed:
// see [block.keeps]. deletion is the reason why the instance is no longer declared. keepReason returns deletion
// if the resource has a block and there is such a reason.
func (b *block) keepReason(deletion plans.Reason) plans.Reason {
	switch {
	case b.r == nil:
		return plans.ReasonForgetByState
	case deletion == plans.ReasonNone:
		return plans.ReasonForgetByConfig
	}
	return deletion
}

// delete plans the deletion of a refreshed object, or its removal from the state. An apply needs the
// dependencies stored with the object for its order: the dependencies in the configuration may be gone together
// with the block.
func (b *block) delete(ctx context.Context, addr addrs.ResourceInstanceObject, found refreshed, reason plans.Reason) (*plans.ResourceChange, diags.Diagnostics) {
	if b.keeps(found.object) {
		return b.forgetting(addr, found, b.keepReason(reason)), nil
	}
	private, identity, ds := b.askToDelete(ctx, addr, found)
	if ds.HasErrors() {
		return nil, ds
	}
	return &plans.ResourceChange{
		Addr: addr, Provider: b.pc, Reason: reason, Schema: b.rs,
		Change:              plans.Change{Action: plans.Delete, Before: found.value, After: b.rs.Block.NullValue(), BeforeIdentity: found.identity, AfterIdentity: identity},
		CreateBeforeDestroy: found.object.CreateBeforeDestroy,
		StoredDeps:          found.object.Dependencies,
		Private:             private,
	}, ds
}

// allowed returns an error if prevent_destroy protects a current object that is to be deleted. Deposed
// objects are not protected: their deletion was decided with the replacement that deposed them. The change
// stays in the plan, so that a reader sees the cause.
func (b *block) allowed(c *plans.ResourceChange) diags.Diagnostics {
	if b.r == nil || c.Addr.Deposed != addrs.NotDeposed || c.Action == plans.Forget {
		return nil
	}
	return b.protect(c.Addr.Instance)
}

// protect returns an error if prevent_destroy protects an instance. If the module of the instance no longer
// exists, a setting that depends on values of the module cannot be evaluated.
func (b *block) protect(a addrs.AbsResourceInstance) diags.Diagnostics {
	if b.p.in.Unprotected {
		return nil
	}
	if b.r.PreventDestroyIf != nil && !b.p.moduleExists(a.Module) {
		return diags.Errorf(b.r.PreventDestroyIf.Range().Ptr(), "Instance cannot be destroyed",
			"Whether %s may be destroyed depends on values of %s, which is no longer in the configuration. Restore it, and first destroy the objects in it with -destroy and -target.", a, a.Module)
	}
	prevents, ds := b.p.s.Eval.Protects(a.Module, b.r)
	if !prevents {
		return ds
	}
	return append(ds, prevented(b, a)...)
}

// askToDelete asks the provider to plan the deletion of an object, if the provider supports that
// (PlanDestroy). It returns the private data and the identity for the deletion.
func (b *block) askToDelete(ctx context.Context, addr addrs.ResourceInstanceObject, found refreshed) ([]byte, cty.Value, diags.Diagnostics) {
	if !b.ps.PlanDestroy {
		return found.object.Private, found.identity, nil
	}
	plain := marks.Plain(found.value)
	null := b.rs.Block.NullValue()
	meta, ds := b.p.s.Meta(ctx, b.r, b.pc.Provider, addr.Instance)
	if ds.HasErrors() {
		return nil, cty.NilVal, ds
	}
	resp, ds := b.client.Plan(provider.WithInstance(ctx, addr.Instance), provider.PlanRequest{
		TypeName: addr.Instance.Resource.Resource.Type, Prior: plain, Proposed: null, Config: null, Identity: found.identity, Private: found.object.Private, Meta: meta,
	})
	if ds = b.place(ds, addr.Instance); ds.HasErrors() {
		return nil, cty.NilVal, ds
	}
	if !resp.Planned.IsNull() {
		return nil, cty.NilVal, append(ds, diags.Errorf(nil, "Provider produced invalid plan",
			"Provider %q planned a non-null destroy value for %s.\n\nThis is a bug in the provider, which should be reported in the provider's own issue tracker.", b.pc.Provider, addr)...)
	}
	if resp.Identity == cty.NilVal {
		resp.Identity = found.identity
	}
	return resp.Private, resp.Identity, ds
}

// deleteDeposed refreshes the deposed objects of an instance and plans their deletion. Instances planned only
// as dependencies of a target keep their deposed objects.
func (b *block) deleteDeposed(ctx context.Context, addr addrs.AbsResourceInstance) diags.Diagnostics {
	if !b.p.selected.Names(addr) {
		return nil
	}
	var ds diags.Diagnostics
	for _, obj := range b.p.prior.Objects(addr) {
		if obj.Deposed == addrs.NotDeposed {
			continue
		}
		found, more := b.refresh(ctx, obj)
		ds = append(ds, more...)
		if more.HasErrors() || b.p.in.Mode == plans.RefreshOnlyMode {
			continue
		}
		if found.object == nil {
			null := b.rs.Block.NullValue()
			b.p.changes.Record(&plans.ResourceChange{Addr: obj, Provider: b.pc, Schema: b.rs, Change: plans.Change{Action: plans.NoOp, Before: null, After: null}})
			continue
		}
		same, more := b.sameAsCurrent(ctx, obj, found.value)
		if ds = append(ds, more...); same {
			b.p.changes.Record(b.forgetting(obj, found, plans.ReasonForgetBecauseCurrent))
			continue
		}
		change, more := b.delete(ctx, obj, found, plans.ReasonNone)
		if ds = append(ds, more...); change != nil {
			b.p.changes.Record(change)
		}
	}
	return ds
}

// sameAsCurrent reports whether a deposed object with the value v is really the current object of its
// instance: deleting it would delete the current object.
func (b *block) sameAsCurrent(ctx context.Context, obj addrs.ResourceInstanceObject, v cty.Value) (bool, diags.Diagnostics) {
	current := b.p.prior.Object(addrs.ResourceInstanceObject{Instance: obj.Instance})
	if obj.Deposed == addrs.NotDeposed || current == nil {
		return false, nil
	}
	is, ds := b.p.s.Decode(ctx, b.client, obj.Instance, b.rs, current)
	return !ds.HasErrors() && session.SameObject(v, is), ds
}

// deleteUndeclared plans the deletion of the instances that the configuration no longer declares.
func (x *expanded) deleteUndeclared(ctx context.Context) diags.Diagnostics {
	return x.deleteAll(ctx, x.p.prior.InstancesBut(x.declared, x.p.inState[x.cr]...), x.reason)
}

// deleteAll refreshes and deletes undeclared instances. It uses two copies of the block. The copy without its
// resource refreshes and deletes: it adds no dependencies, no provider_meta and no source range of a
// configuration that does not have the instance. The other copy is for prevent_destroy, which protects all
// instances of an existing block, declared or not, and for deposed objects.
func (b *block) deleteAll(ctx context.Context, list []addrs.AbsResourceInstance, reason func(addrs.AbsResourceInstance) plans.Reason) diags.Diagnostics {
	found := make([]diags.Diagnostics, len(list))
	interrupted := each(ctx, len(list), func(ctx context.Context, i int) {
		addr := list[i]
		if !b.p.selected.hasInstance(addr) {
			return
		}
		obj := addrs.ResourceInstanceObject{Instance: addr}
		// The instance is not in the configuration, so the block adds no dependencies.
		own, ds := b.forObject(ctx, addr)
		if found[i] = b.complete(ds, addr); ds.HasErrors() {
			return
		}
		orphan := *own
		orphan.r = nil
		found[i] = own.complete(slices.Concat(ds, orphan.deleteOrphan(ctx, obj, reason(addr), own), own.deleteDeposed(ctx, addr)), addr)
	})
	return append(slices.Concat(found...), interrupted...)
}

// deleteOrphan plans the deletion of one instance. The provider gets the object as just refreshed. So it sees a
// deletion guard that somebody has set on the real object since the last apply, and the change shows the object
// that will be destroyed.
// Source: Terraform 1.12, https://github.com/hashicorp/terraform/issues/36394.
func (b *block) deleteOrphan(ctx context.Context, obj addrs.ResourceInstanceObject, reason plans.Reason, configured *block) diags.Diagnostics {
	if o := b.p.prior.Object(obj); o != nil && configured.keeps(o) && b.p.in.Mode != plans.RefreshOnlyMode {
		return b.forgetObject(ctx, obj, configured.keepReason(reason))
	}
	if b.p.in.Config.Language == language.V1_11 && b.p.in.Mode != plans.RefreshOnlyMode {
		return b.deleteUnread(ctx, obj, reason, configured)
	}
	found, ds := b.refresh(ctx, obj) // empty if the instance has only deposed objects, or no longer exists
	if ds.HasErrors() || found.object == nil || b.p.in.Mode == plans.RefreshOnlyMode {
		return ds
	}
	change, more := b.delete(ctx, obj, found, reason)
	if ds = append(ds, more...); ds.HasErrors() {
		return ds
	}
	b.p.changes.Record(change)
	return append(ds, configured.allowed(change)...)
}

// deleteUnread is deleteOrphan in the language of Terraform 1.11. The provider gets the object as it is stored, before it
// is read. If the provider refuses the deletion, the object is not read.
func (b *block) deleteUnread(ctx context.Context, obj addrs.ResourceInstanceObject, reason plans.Reason, configured *block) diags.Diagnostics {
	o := b.p.prior.Object(obj)
	if o == nil {
		return nil // the instance has only deposed objects
	}
	v, ds := b.p.s.Decode(ctx, b.client, obj.Instance, b.rs, o)
	if ds.HasErrors() {
		return ds
	}
	change, more := b.delete(ctx, obj, refreshed{object: o, value: v, identity: b.p.s.StoredIdentity(b.rs, o)}, reason)
	if ds = append(ds, more...); ds.HasErrors() {
		return ds
	}
	found, more := b.refresh(ctx, obj)
	if ds = append(ds, more...); ds.HasErrors() || found.object == nil {
		return ds
	}
	b.p.changes.Record(change)
	return append(ds, configured.allowed(change)...)
}

// reason returns why an instance of a configured block is deleted. The kind of its key shows whether the
// current count or for_each leaves it out, or another kind of repetition made it. Source: Terraform 1.11.4,
// whose renderer has a sentence for each.
func (b *expanded) reason(a addrs.AbsResourceInstance) plans.Reason {
	if _, ok := b.spans[a.AbsResource()]; !ok {
		return plans.ReasonDeleteBecauseNoModule
	}
	_, isInt := a.Resource.Key.Int()
	_, isString := a.Resource.Key.Str()
	switch {
	case b.r.Count != nil && isInt:
		return plans.ReasonDeleteBecauseCountIndex
	case b.r.ForEach != nil && isString:
		return plans.ReasonDeleteBecauseEachKey
	case b.r.Enabled != nil && a.Resource.Key.IsNone():
		return plans.ReasonDeleteBecauseEnabledFalse
	}
	return plans.ReasonDeleteBecauseWrongRep
}
