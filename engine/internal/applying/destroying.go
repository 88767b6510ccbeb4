package applying

import (
	"cmp"
	"context"

	"github.com/zclconf/go-cty/cty"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/engine/internal/session"
	"github.com/lockstep-iac/lockstep/engine/plans"
	"github.com/lockstep-iac/lockstep/engine/provider"
	"github.com/lockstep-iac/lockstep/engine/states"
)

// delete destroys an object: the current object, or the deposed one of a replacement.
//
// Provisioners run first. If one fails, the object stays, and the next apply runs all of them again: they may
// be the last chance to save the object's data. After an interrupted deletion they do not run: they ran
// before the deletion was requested, and the object may be partly gone.
func (x *object) delete(ctx context.Context) diags.Diagnostics {
	addr := x.c.Addr
	if x.c.Action == plans.CreateThenDelete {
		x.a.mu.Lock()
		key, ok := x.a.deposedAs[x.c]
		x.a.mu.Unlock()
		if !ok {
			return nil // no object was deposed
		}
		addr.Deposed = key
	}
	o := x.a.record.object(addr)
	if o == nil {
		return x.afterDestroying(ctx) // gone already
	}
	if x.c.KeepsOld {
		x.a.record.set(addr, x.c.Provider, nil)
		return nil
	}
	var ds diags.Diagnostics
	twins := x.twins(addr, o)
	if x.interrupted || twins {
		if o, ds = x.look(ctx, addr, o); o == nil {
			if ds.HasErrors() {
				return ds // the object cannot be read
			}
			x.spared() // the object has been deleted
			if x.interrupted && twins {
				ds = append(ds, x.survived(ctx)...)
			}
			return append(ds, x.afterDestroying(ctx)...)
		}
	}
	like, more := x.compare(ctx, addr, o, twins)
	if ds = append(ds, more...); ds.HasErrors() {
		return ds
	}
	if like == isCurrent {
		x.a.record.set(addr, x.c.Provider, nil)
		x.spared()
		return append(ds, x.kept()...)
	}
	v, more := x.a.s.Stored(addr.Instance, x.rs, o)
	if ds = append(ds, more...); ds.HasErrors() {
		return ds
	}
	if more := x.beforeDestroying(ctx); more.HasErrors() {
		return append(ds, more...)
	} else {
		ds = append(ds, more...)
	}
	at := x.begin(plans.Delete, v)
	if x.endsOrderly(addr, o) && !x.interrupted {
		ds = append(ds, x.beforeDestruction(v)...)
	}
	if !ds.HasErrors() {
		ds = append(ds, x.destroy(ctx, addr, o, v, like)...)
	}
	at.end(ds.HasErrors())
	if ds.HasErrors() {
		x.a.report.add(x.a.record.save(ctx))
		return ds
	}
	return append(ds, x.afterDestroying(ctx)...)
}

// twins reports whether a deposed object has the same ID as the current object of its instance.
//
//   - They may be one real object: a provider that is asked to create an existing object may overwrite it. For
//     example, the ID of a DNS record is its name.
//   - They may be two real objects, like objects with one key in two buckets.
//
// [object.compare] finds out which.
func (x *object) twins(addr addrs.ResourceInstanceObject, deposed *states.Object) bool {
	was, is, ok := x.both(addr, deposed)
	return ok && session.SameID(was, is)
}

// A likeness says whether a deposed object and the current object of its instance are the same real object.
type likeness int

const (
	// otherObject: deleting the deposed object leaves the current object alone, or there is no current
	// object.
	otherObject likeness = iota
	// isCurrent: deleting the deposed object would delete the current object.
	isCurrent
	// sameID: both exist, with the same ID but different values. Deleting the deposed object may also delete
	// the current one.
	sameID
)

// compare returns the likeness of a deposed object. twins is the result of [object.twins]. An object with the
// same values as the current object is the current object: the provider cannot tell them apart. The answer of
// a creation may differ from a later reading of the same object, for example in a status. So compare also
// reads the current object before it decides that there are two. It does not record this reading: other steps
// may have used the values of the answer.
//
// The journal needs no record of the result except the edit of the state: an apply that continues without it
// asks again.
func (x *object) compare(ctx context.Context, addr addrs.ResourceInstanceObject, deposed *states.Object, twins bool) (likeness, diags.Diagnostics) {
	was, is, ok := x.both(addr, deposed)
	switch {
	case !twins || !ok || !session.SameID(was, is):
		return otherObject, nil
	case session.SameObject(was, is):
		return isCurrent, nil
	}
	current, ds := x.readObject(ctx, x.current(), x.a.record.object(x.current()))
	switch {
	case current == nil:
		return otherObject, ds
	case session.SameObject(was, current.Value):
		return isCurrent, ds
	}
	return sameID, ds
}

// current returns the address of the current object of the instance.
func (x *object) current() addrs.ResourceInstanceObject {
	return addrs.ResourceInstanceObject{Instance: x.c.Addr.Instance}
}

// survived reads the current object after the deletion of a deposed object with the same ID. If the provider
// has deleted both, survived removes the current object from the state and returns an error. A stop does not
// interrupt this reading, since it belongs to the deletion.
func (x *object) survived(ctx context.Context) diags.Diagnostics {
	o := x.a.record.object(x.current())
	if o == nil {
		return nil
	}
	found, ds := x.readObject(context.WithoutCancel(ctx), x.current(), o)
	if found != nil || ds.HasErrors() {
		return ds
	}
	id := "(sensitive value)"
	if v, more := x.a.s.Stored(x.c.Addr.Instance, x.rs, o); !more.HasErrors() {
		id = cmp.Or(session.ObjectID(v), id)
	}
	x.a.record.set(x.current(), x.c.Provider, nil)
	x.lost()
	return append(ds, diags.Errorf(nil, "New object was deleted with the old one",
		"The provider deleted the new object of %s together with the old one, since both have the ID %s. Lockstep read both before the deletion: their values differed, as those of two objects do. The new object no longer exists, so Lockstep took it out of the state.\n\nPlan again: the plan creates the object. To prevent this error, remove create_before_destroy from the lifecycle block of this resource, and of the resources that depend on it.",
		x.c.Addr.Instance, id).At(x.address())...)
}

// lost records that the instance no longer has an object, although the plan keeps it: outputs and checks must
// not use its value.
func (x *object) lost() {
	x.a.failures.instance(x.c.Addr.Instance)
	x.a.failures.block(x.cr)
}

// both returns the value of a deposed object, and the value of the current object of its instance. ok is false
// if the object is not deposed, or if there is no current object that stays.
func (x *object) both(addr addrs.ResourceInstanceObject, deposed *states.Object) (old, now cty.Value, ok bool) {
	current := x.a.record.object(x.current())
	if addr.Deposed == addrs.NotDeposed || current == nil || x.a.values.planned.deleted()[addr.Instance] {
		return old, now, false
	}
	old, ds := x.a.s.Stored(addr.Instance, x.rs, deposed)
	now, more := x.a.s.Stored(addr.Instance, x.rs, current)
	return old, now, !ds.HasErrors() && !more.HasErrors()
}

// kept returns the warning about an object that was not deleted because it is the current one.
func (x *object) kept() diags.Diagnostics {
	return diags.Warningf(nil, "Old object was not deleted",
		"The new object of %s is the old one: Lockstep read the old object, and the provider returned the ID and all values of the new object. A deletion would destroy it, so Lockstep did not call the provider, and took the old object out of the state.\n\nThis happens if a provider overwrites an object that exists. You do not need to do anything now. If the old object must be gone before the new one is created, remove create_before_destroy from the lifecycle block of this resource, and of the resources that depend on it.",
		x.c.Addr.Instance).At(x.address())
}

// destroy asks the provider to destroy an object with the value v. If the provider returns an error and the
// remaining part of the object, destroy records this part. Without a usable answer the object stays in the
// state unchanged: the next refresh finds an object too many, but never one too few.
//
// The remaining part is stored with its status and its dependencies, but without create-before-destroy, which
// a destroy does not know. Source: Terraform 1.11.4, node_resource_abstract_instance.go (apply).
//
// For an object that is only deleted, the provider gets the private data of the plan, in which it may have
// left a note for itself. In a replacement, the plan's private data is for the new object, so the old object
// is sent with the private data stored with it.
//
// After deleting an object with the ID of the current one, destroy verifies that the current object still
// exists.
func (x *object) destroy(ctx context.Context, addr addrs.ResourceInstanceObject, o *states.Object, v cty.Value, like likeness) diags.Diagnostics {
	plain, sensitive := sensitivePaths(v)
	private, identity := o.Private, x.a.s.StoredIdentity(x.rs, o)
	if x.c.Action == plans.Delete {
		private, identity = x.c.Private, x.c.AfterIdentity
	}
	null := x.rs.Block.NullValue()
	call := x.effect(ctx, addr, plans.Delete, null, provider.ApplyRequest{
		TypeName: addr.Instance.Resource.Resource.Type, Prior: plain, Planned: null, Config: null, Identity: identity, Private: private, Meta: x.meta(ctx),
	})
	ds := call.ds
	if !ds.HasErrors() && call.resp.New != cty.NilVal && !call.resp.New.IsNull() {
		ds = append(ds, diags.Errorf(nil, "Provider returned invalid result object after apply",
			"After applying the deletion of %s, provider %q still returned an object.\n\nThis is a bug in the provider, which should be reported in the provider's own issue tracker.", addr, x.c.Provider.Provider)...)
	}
	switch {
	case !ds.HasErrors():
		x.a.record.set(addr, x.c.Provider, nil)
		if like == sameID {
			ds = append(ds, x.survived(ctx)...)
		}
	case call.resp.New != cty.NilVal && !call.resp.New.IsNull() && call.resp.New.IsWhollyKnown():
		if left, err := session.Encode(session.MarkSensitive(call.resp.New, x.rs, sensitive), x.rs, session.Encoding{
			Status: o.Status, Identity: o.Identity, Private: call.resp.Private, Dependencies: o.Dependencies,
		}); err == nil {
			x.a.record.set(addr, x.c.Provider, left)
		}
	}
	return append(ds, call.returned(ctx, ds[len(call.ds):])...)
}
