package planning

import (
	"context"

	"github.com/zclconf/go-cty/cty"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/engine/internal/session"
	"github.com/lockstep-iac/lockstep/engine/marks"
	"github.com/lockstep-iac/lockstep/engine/plans"
	"github.com/lockstep-iac/lockstep/engine/states"
)

// refreshed is an object as just found; a nil object means that there is none. All planning for the object
// starts from it, and the prior state contains the same object.
type refreshed struct {
	object *states.Object // the object in the prior state
	value  cty.Value      // its value, with sensitive marks; null if there is none
	// identity is the identity of the object. It is cty.NilVal if the type has no identities, or if the state
	// has none for the object.
	identity cty.Value
	// lacking is true if the stored object lacks sensitive paths, and no refresh has added them.
	lacking bool
}

// refresh decodes a stored object, upgrades it to the current schema, reads the real one, and records it in
// the prior state. A difference between the upgraded and the real object is drift.
//
// For a configured object, refresh also updates the metadata. create-before-destroy depends only on the
// configuration. Dependencies are merged. The new ones are needed for the order of a later destruction. The
// old ones, which the object was made from, are needed until the next apply of this object; if the object
// does not change, the plan drops them (settle). Without refreshing, the stored ones stay. A deposed object,
// and an object without a block, keep what they were stored with: the configuration does not mention them.
// Source: Terraform 1.11.4.
func (b *block) refresh(ctx context.Context, addr addrs.ResourceInstanceObject) (refreshed, diags.Diagnostics) {
	p := b.p
	none := refreshed{value: b.rs.Block.NullValue()}
	o := p.prior.Object(addr)
	if o == nil {
		return none, nil
	}
	upgraded, ds := p.s.Decode(ctx, b.client, addr.Instance, b.rs, o)
	if ds.HasErrors() {
		return none, ds
	}
	identity, more := p.s.DecodeIdentity(ctx, b.client, addr.Instance, b.rs, o)
	if ds = append(ds, more...); more.HasErrors() {
		return none, ds
	}
	val, private := upgraded, o.Private
	if !p.in.SkipRefresh {
		found, more := p.read(ctx, session.Refreshing{
			Client: b.client, Provider: b.pc, Resource: b.r, Schema: b.rs, Addr: addr, Stored: upgraded, Identity: identity, Private: o.Private,
		})
		if ds = append(ds, more...); ds.HasErrors() {
			return none, ds
		}
		val, identity, private = found.New, found.Identity, found.Private
		if val.IsNull() {
			b.drifted(addr, plans.Change{Action: plans.Delete, Before: upgraded, After: val})
			p.prior.SetObject(addr, b.pc, nil)
			return none, ds
		}
	}
	deps, cbd, keep := o.Dependencies, o.CreateBeforeDestroy, o.SkipDestroy
	if b.r != nil && addr.Deposed == addrs.NotDeposed {
		cbd, keep = b.cbd, b.r.Keep
		if !p.in.SkipRefresh && !b.stores(o.Dependencies) {
			deps = states.MergeDependencies(p.deps.Stored(b.cr), o.Dependencies)
		}
	}
	next, err := session.Encode(val, b.rs, session.Encoding{
		Status: o.Status, Identity: session.EncodeIdentity(identity, b.rs, o.Identity), Private: private, Dependencies: deps, CreateBeforeDestroy: cbd, SkipDestroy: keep, Stored: o.AttrsJSON,
	})
	if err != nil {
		return none, append(ds, diags.FromError("Provider produced invalid object",
			err)...)
	}
	next.Extra = o.Extra
	if b.mayLeave(addr) && sameObject(o, next) {
		next = o
	} else {
		p.prior.SetObject(addr, b.pc, next)
	}
	if !p.in.SkipRefresh {
		if action := b.driftAction(addr.Instance, o, upgraded, val); action != plans.NoOp || b.movedOnly(addr.Instance) {
			b.drifted(addr, plans.Change{Action: action, Before: upgraded, After: val})
		}
	}
	return refreshed{next, val, identity, p.in.SkipRefresh && session.LacksPaths(o, b.rs, upgraded)}, ds
}

// present returns the object from which the plan of an instance starts. An imported object is not read again, nor
// is an object that [instance.weigh] leaves unread.
func (x *instance) present(ctx context.Context) (refreshed, diags.Diagnostics) {
	if x.imported {
		o := x.p.prior.Object(x.object())
		return refreshed{object: o, value: o.Value, identity: x.p.s.StoredIdentity(x.rs, o)}, nil
	}
	if x.weighed.unread {
		if found, ok := x.stored(ctx); ok {
			return found, nil
		}
		x.weighed.unread, x.weighed.settled, x.weighed.sampled = false, false, false
	}
	return x.refresh(ctx, x.object())
}

// driftAction returns the action that describes how an object differs from the stored one. It is an update if
// the values differ. If only the marks differ, it is an update in two cases, as in Terraform 1.11.4:
//
//   - The stored object does not list all paths that the schema declares sensitive.
//   - The provider converted the stored object from another type. Such a value has no marks, and the object
//     that was read has some.
func (b *block) driftAction(addr addrs.AbsResourceInstance, stored *states.Object, before, after cty.Value) plans.Action {
	from, moved := b.p.moved.Origins[addr]
	retyped := moved && from.Resource.Resource.Type != addr.Resource.Resource.Type
	if !equal(before, after) || session.LacksPaths(stored, b.rs, before) || retyped && marks.Any(after) {
		return plans.Update
	}
	return plans.NoOp
}

// movedOnly reports whether the new address of an unchanged object counts as drift. This is so only in
// refresh-only mode, where no planned change would show it.
func (b *block) movedOnly(addr addrs.AbsResourceInstance) bool {
	_, moved := b.p.moved.Origins[addr]
	return moved && b.p.in.Mode == plans.RefreshOnlyMode
}

// equal reports whether two values are equal, without regard to marks.
func equal(a, b cty.Value) bool {
	return marks.Equal(a, b) || marks.Equal(marks.Plain(a), marks.Plain(b))
}

// drifted records that an object differs from the stored one. Whether people see this is decided when all
// changes are known: see relevant.go.
func (b *block) drifted(addr addrs.ResourceInstanceObject, change plans.Change) {
	b.p.changes.Drifted(&plans.ResourceChange{Addr: addr, Provider: b.pc, Schema: b.rs, Change: change})
}
