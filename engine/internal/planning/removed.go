package planning

import (
	"context"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/engine/plans"
)

// forget plans to remove the objects of a resource without a block from the state, if a removed block says
// so; otherwise the result is false. Deposed objects are removed together with the current one: they have no
// address by which anybody could remove them later. No provider is asked, and prevent_destroy does not apply,
// since nothing is destroyed.
// Source: https://developer.hashicorp.com/terraform/language/block/removed
func (b *block) forget(ctx context.Context, list []addrs.AbsResourceInstance) (bool, diags.Diagnostics) {
	p := b.p
	if p.in.Mode == plans.RefreshOnlyMode || !removedBlockForgets(p.in.Config, b.cr) {
		return false, nil
	}
	var ds diags.Diagnostics
	for _, addr := range list {
		if !p.selected.hasInstance(addr) {
			continue
		}
		b, more := b.forObject(ctx, addr)
		if ds = append(ds, more...); more.HasErrors() {
			continue
		}
		for _, obj := range p.prior.Objects(addr) {
			reason := plans.ReasonNone
			if obj.Deposed == addrs.NotDeposed {
				reason = b.orphanReason(obj.Instance)
			}
			ds = append(ds, b.complete(b.forgetObject(ctx, obj, reason), addr)...)
		}
	}
	return true, ds
}

// forgetObject plans to remove one object from the state. It does not refresh the object, whose current value
// no longer matters.
func (b *block) forgetObject(ctx context.Context, obj addrs.ResourceInstanceObject, reason plans.Reason) diags.Diagnostics {
	o := b.p.prior.Object(obj)
	before, ds := b.p.s.Decode(ctx, b.client, obj.Instance, b.rs, o)
	if ds.HasErrors() {
		return ds
	}
	b.p.changes.Record(b.forgetting(obj, refreshed{object: o, value: before, identity: b.p.s.StoredIdentity(b.rs, o)}, reason))
	return ds
}

// forgetting returns the change that removes an object from the state.
func (b *block) forgetting(obj addrs.ResourceInstanceObject, found refreshed, reason plans.Reason) *plans.ResourceChange {
	return &plans.ResourceChange{
		Addr: obj, Provider: b.pc, Schema: b.rs, StoredDeps: found.object.Dependencies,
		Reason: reason,
		Change: plans.Change{Action: plans.Forget, Before: found.value, After: b.rs.Block.NullValue(), BeforeIdentity: found.identity},
	}
}

// forgetWarnings returns a warning that lists the objects that nothing will manage any more. They continue to
// exist and to cost money: a reader must not miss that. Deposed objects that are really the current ones are
// listed separately.
func forgetWarnings(changes []*plans.ResourceChange) diags.Diagnostics {
	var left, current string
	for _, c := range changes {
		switch line := "\n - " + c.Addr.String(); {
		case c.KeepsOld:
			left += line + " (the object that is replaced)"
		case c.Action != plans.Forget:
		case c.Reason == plans.ReasonForgetBecauseCurrent:
			current += line
		default:
			left += line
		}
	}
	var ds diags.Diagnostics
	if left != "" {
		ds = diags.Warningf(nil, "Some objects will no longer be managed by Lockstep",
			"The state will forget these objects, which go on to exist:%s\n\nTo bring one back under management, import it.", left)
	}
	if current != "" {
		ds = append(ds, diags.Warningf(nil, "Deposed objects are the current objects",
			"Each of these deposed objects has the ID and all values of the current object of its instance. Both are one real object, and a deletion would destroy it:%s\n\nApply this plan: Lockstep takes the deposed objects out of the state, and deletes nothing for them.", current)...)
	}
	return ds
}

// orphanReason returns why an instance of a resource without a block is deleted. If a moved block has moved
// the object to this address, that is the reason: the moved block is wrong, or the resource block is not
// written yet.
func (b *block) orphanReason(a addrs.AbsResourceInstance) plans.Reason {
	if _, moved := b.p.moved.Origins[a]; moved {
		return plans.ReasonDeleteBecauseNoMoveTarget
	}
	return plans.ReasonDeleteBecauseNoConfig
}
