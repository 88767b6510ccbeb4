package importing

import (
	"context"
	"fmt"

	"github.com/zclconf/go-cty/cty"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/config"
	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/engine/events"
	"github.com/lockstep-iac/lockstep/engine/internal/planning/drafts"
	"github.com/lockstep-iac/lockstep/engine/internal/session"
	"github.com/lockstep-iac/lockstep/engine/plans"
	"github.com/lockstep-iac/lockstep/engine/provider"
	"github.com/lockstep-iac/lockstep/engine/schema"
	"github.com/lockstep-iac/lockstep/engine/states"
)

// A Fetcher imports objects for the instances of one resource.
type Fetcher struct {
	Session  *session.Session
	Prior    *drafts.Prior // the state that gets the objects
	Client   provider.Client
	Provider addrs.AbsProviderConfig
	Resource *config.Resource // nil if the resource has no block yet
	Schema   *schema.Schema
	// Drifted is called for an object that was found but could not be read. It may be nil.
	Drifted func(addrs.ResourceInstanceObject, plans.Change)
}

// Fetch asks the provider for an object by its ID or its identity, reads the object, and adds it to the prior
// state. If the answer has more objects, Fetch leaves them out and returns a warning, because each would need
// an address of its own. No object is fetched twice. If the state already has the instance's object, Fetch
// returns an error.
func (f *Fetcher) Fetch(ctx context.Context, addr addrs.AbsResourceInstance, key session.ImportKey) diags.Diagnostics {
	obj := addrs.ResourceInstanceObject{Instance: addr}
	f.Session.Events.Send(events.Event{Kind: events.ImportStart, Addr: obj, ID: key.Shown(), Identity: plans.IdentityText(key.Identity)})
	list, ds := f.Client.Import(provider.WithInstance(ctx, addr), provider.ImportRequest{TypeName: addr.Resource.Resource.Type, ID: key.ID, Identity: key.Identity})
	if ds.HasErrors() {
		return ds
	}
	if f.Prior.Object(obj) != nil {
		return append(ds, diags.Errorf(nil, "Resource already managed by Lockstep",
			"Lockstep is already managing a remote object for %s. To import to this address you must first remove the existing object from the state.", addr)...)
	}
	for i, x := range list {
		if x.TypeName != addr.Resource.Resource.Type || i > 0 {
			ds = append(ds, diags.Warningf(nil, "Imported object left out",
				"The provider returned a further object, of type %s, for the import; only objects of the type %s can be imported to %s.", x.TypeName, addr.Resource.Resource.Type, addr)...)
			continue
		}
		more := f.adopt(ctx, obj, x, key)
		ds = append(ds, more...)
	}
	if len(list) == 0 {
		ds = append(ds, notImportable(addr, key)...)
	}
	return ds
}

// FetchFor fetches an object, as [Fetcher.Fetch] does, for an import block. A diagnostic without a place gets
// the place of the block.
func (f *Fetcher) FetchFor(ctx context.Context, addr addrs.AbsResourceInstance, r Request) diags.Diagnostics {
	ds := f.Fetch(ctx, addr, r.ImportKey)
	for i := range ds {
		if ds[i].Subject == nil {
			ds[i].Subject = r.rng
		}
	}
	return ds
}

func notImportable(addr addrs.AbsResourceInstance, key session.ImportKey) diags.Diagnostics {
	if key.Identity != cty.NilVal {
		return diags.Errorf(nil, "Cannot import non-existent remote object",
			"The provider found no object with the identity %s to import as %s. Check the values, and that they belong to the provider's configured region or endpoint.", plans.IdentityText(key.Identity), addr)
	}
	return diags.Errorf(nil, "Cannot import non-existent remote object",
		"While attempting to import an existing object to %q, the provider detected that no object exists with the given id. Only pre-existing objects can be imported; check that the id %q is correct and that it is associated with the provider's configured region or endpoint.", addr, key.Shown())
}

// adopt reads an imported object, since a provider may answer an import with only the ID. It adds the object
// to the prior state: from then on it is planned like any stored object.
func (f *Fetcher) adopt(ctx context.Context, obj addrs.ResourceInstanceObject, x provider.Imported, key session.ImportKey) diags.Diagnostics {
	if x.State == cty.NilVal || x.State.IsNull() {
		return notImportable(obj.Instance, key)
	}
	for _, err := range x.State.Type().TestConformance(f.Schema.Block.ImpliedType()) {
		return diags.Errorf(nil, "Provider produced invalid object", "The imported value of %s is not valid: %s.", obj, err)
	}
	if x.Identity == cty.NilVal {
		x.Identity = key.Identity
	}
	found, ds := f.Session.Refresh(ctx, session.Refreshing{
		Client: f.Client, Provider: f.Provider, Resource: f.Resource, Schema: f.Schema, Addr: obj, Stored: x.State, Identity: x.Identity, Private: x.Private,
	})
	if ds.HasErrors() {
		// The object was found but cannot be read: Terraform reports that as drift.
		if f.Drifted != nil {
			f.Drifted(obj, plans.Change{Action: plans.Delete, Before: session.MarkSensitive(x.State, f.Schema, nil), After: f.Schema.Block.NullValue()})
		}
		return ds
	}
	if found.New.IsNull() {
		return append(ds, notImportable(obj.Instance, key)...)
	}
	o, err := session.Encode(session.MarkSensitive(found.New, f.Schema, nil), f.Schema, session.Encoding{
		Status: states.Ready, Identity: session.EncodeIdentity(found.Identity, f.Schema, states.Identity{}), Private: found.Private, Dependencies: nil, CreateBeforeDestroy: false,
	})
	if err != nil {
		return append(ds, diags.FromError("Provider produced invalid object", fmt.Errorf("%s: %w", obj, err))...)
	}
	f.Prior.SetObject(obj, f.Provider, o)
	return ds
}
