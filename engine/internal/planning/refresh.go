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

// refreshed is an object as it was found: nil object means there is none. It is the starting point of all that is
// planned for the object, and the prior state has the same by then.
type refreshed struct {
	object *states.Object // as the prior state has it now
	value  cty.Value      // its value, with sensitive marks; null if there is none
	// identity is what its provider tells it by; cty.NilVal if the type has no identities, or the state none of the object.
	identity cty.Value
	// lacking is true if the stored object lacks sensitive paths, and no refresh has added them.
	lacking bool
}

// refresh decodes a stored object, reads the real one, and records it: previous run state -> upgraded
// state -> prior state. A difference between the last two is drift.
//
// With the value, the metadata of a configured object are brought up to date. Whether
// create-before-destroy is in force is a matter of the configuration alone. Dependencies are merged:
// the new ones are needed for the order of a later destruction, and the old ones still, until the next
// apply of this object, since the object was made from them; of one that does not change, the plan
// drops them (settle). Without refreshing the stored ones stay.
// A deposed object, and one without a block, keeps what it was stored with: no configuration
// speaks of it any more. Source: Terraform 1.11.4.
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
		found, more := p.s.Refresh(ctx, session.Refreshing{
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
		if !p.in.SkipRefresh {
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
	p.prior.SetObject(addr, b.pc, next)
	if !p.in.SkipRefresh {
		if action := b.driftAction(addr.Instance, o, upgraded, val); action != plans.NoOp || b.movedOnly(addr.Instance) {
			b.drifted(addr, plans.Change{Action: action, Before: upgraded, After: val})
		}
	}
	return refreshed{next, val, identity, p.in.SkipRefresh && session.LacksPaths(o, b.rs, upgraded)}, ds
}

// present returns the object from which the plan of an instance starts. An imported object was read a
// moment ago.
func (x *instance) present(ctx context.Context) (refreshed, diags.Diagnostics) {
	if x.imported {
		o := x.p.prior.Object(x.object())
		return refreshed{object: o, value: o.Value, identity: x.p.s.StoredIdentity(x.rs, o)}, nil
	}
	return x.refresh(ctx, x.object())
}

// driftAction returns the action by which an object has become another one than the stored one. A
// value that was read has the marks of its schema, a stored one those that the state lists, and one
// that a provider converted from another type has none: Terraform 1.11.4 takes a difference of marks
// for an update.
func (b *block) driftAction(addr addrs.AbsResourceInstance, stored *states.Object, before, after cty.Value) plans.Action {
	from, moved := b.p.moved.Origins[addr]
	retyped := moved && from.Resource.Resource.Type != addr.Resource.Resource.Type
	if !equal(before, after) || session.LacksPaths(stored, b.rs, before) || retyped && marks.Any(after) {
		return plans.Update
	}
	return plans.NoOp
}

// movedOnly reports whether the new address of an unchanged object counts as drift: in refresh-only
// mode, where no change is planned that would show it.
func (b *block) movedOnly(addr addrs.AbsResourceInstance) bool {
	_, moved := b.p.moved.Origins[addr]
	return moved && b.p.in.Mode == plans.RefreshOnlyMode
}

// equal compares values without their marks.
func equal(a, b cty.Value) bool {
	return marks.Plain(a).RawEquals(marks.Plain(b))
}

// drifted records that an object differs from the stored one. Whether a person gets to see that is decided
// when all changes are known: see relevant.go.
func (b *block) drifted(addr addrs.ResourceInstanceObject, change plans.Change) {
	b.p.changes.Drifted(&plans.ResourceChange{Addr: addr, Provider: b.pc, Schema: b.rs, Change: change})
}
