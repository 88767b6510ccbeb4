package planning

import (
	"context"
	"fmt"

	"github.com/zclconf/go-cty/cty"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/engine/events"
	"github.com/lockstep-iac/lockstep/engine/plans"
	"github.com/lockstep-iac/lockstep/engine/provider"
	"github.com/lockstep-iac/lockstep/engine/session"
	"github.com/lockstep-iac/lockstep/engine/states"
)

// fetch asks the provider for an object by its ID, reads it, and puts it into the prior state. Further
// objects in the answer are left out, with a warning.
func (b *block) fetch(ctx context.Context, addr addrs.AbsResourceInstance, id string) diags.Diagnostics {
	obj := addrs.ResourceInstanceObject{Instance: addr}
	b.p.in.Events.Send(events.Event{Kind: events.ImportStart, Addr: obj, ID: id})
	list, ds := b.client.Import(ctx, addr.Resource.Resource.Type, id)
	if ds.HasErrors() {
		return ds
	}
	if b.p.prior.Object(obj) != nil {
		return append(ds, diags.Errorf(nil, "Resource already managed by Lockstep",
			"Lockstep is already managing a remote object for %s. To import to this address you must first remove the existing object from the state.", addr)...)
	}
	for i, x := range list {
		if x.TypeName != addr.Resource.Resource.Type || i > 0 {
			ds = append(ds, diags.Warningf(nil, "Imported object left out",
				"The provider returned a further object, of type %s, for the ID; only objects of the type %s can be imported to %s.", x.TypeName, addr.Resource.Resource.Type, addr)...)
			continue
		}
		more := b.adopt(ctx, obj, x, id)
		ds = append(ds, more...)
	}
	if len(list) == 0 {
		ds = append(ds, notImportable(addr, id)...)
	}
	return ds
}

func notImportable(addr addrs.AbsResourceInstance, id string) diags.Diagnostics {
	return diags.Errorf(nil, "Cannot import non-existent remote object",
		"While attempting to import an existing object to %q, the provider detected that no object exists with the given id. Only pre-existing objects can be imported; check that the id %q is correct and that it is associated with the provider's configured region or endpoint.", addr, id)
}

// adopt reads an imported object, since a provider's answer to an import may have no more than the
// ID, and puts it into the prior state: from there it is planned like any stored object.
func (b *block) adopt(ctx context.Context, obj addrs.ResourceInstanceObject, x provider.Imported, id string) diags.Diagnostics {
	if x.State == cty.NilVal || x.State.IsNull() {
		return notImportable(obj.Instance, id)
	}
	for _, err := range x.State.Type().TestConformance(b.rs.Block.ImpliedType()) {
		return diags.Errorf(nil, "Provider produced invalid object", "The imported value of %s is not valid: %s.", obj, err)
	}
	val, private, ds := b.read(ctx, obj, x.State, &states.Object{Private: x.Private})
	if ds.HasErrors() {
		// The object was found, and cannot be read: Terraform reports that as drift.
		found := session.MarkSensitive(x.State, b.rs, nil)
		b.drifted(obj, plans.Change{Action: plans.Delete, Before: found, After: b.rs.Block.NullValue()})
		return ds
	}
	if val.IsNull() {
		return append(ds, notImportable(obj.Instance, id)...)
	}
	o, err := session.Encode(session.MarkSensitive(val, b.rs, nil), b.rs, session.Encoding{
		Status: states.Ready, Private: private, Dependencies: nil, CreateBeforeDestroy: false,
	})
	if err != nil {
		return append(ds, diags.FromError("Provider produced invalid object", fmt.Errorf("%s: %w", obj, err))...)
	}
	b.p.prior.SetObject(obj, b.pc, o)
	return ds
}
