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

// A Fetcher fetches objects for the instances of one resource.
type Fetcher struct {
	Session  *session.Session
	Prior    *drafts.Prior // which gets the objects
	Client   provider.Client
	Provider addrs.AbsProviderConfig
	Resource *config.Resource // nil if it has no block yet
	Schema   *schema.Schema
	// Drifted is told of an object that was found, and could not be read; nil: nobody is.
	Drifted func(addrs.ResourceInstanceObject, plans.Change)
}

// Fetch asks the provider for an object by its ID, reads it, and puts it into the prior state. Further
// objects in the answer are left out, with a warning: each would need an address of its own. Nothing is
// fetched twice, and an object that the state has already is an error.
func (f *Fetcher) Fetch(ctx context.Context, addr addrs.AbsResourceInstance, id string) diags.Diagnostics {
	obj := addrs.ResourceInstanceObject{Instance: addr}
	f.Session.Events.Send(events.Event{Kind: events.ImportStart, Addr: obj, ID: id})
	list, ds := f.Client.Import(provider.WithInstance(ctx, addr), addr.Resource.Resource.Type, id)
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
				"The provider returned a further object, of type %s, for the ID; only objects of the type %s can be imported to %s.", x.TypeName, addr.Resource.Resource.Type, addr)...)
			continue
		}
		more := f.adopt(ctx, obj, x, id)
		ds = append(ds, more...)
	}
	if len(list) == 0 {
		ds = append(ds, notImportable(addr, id)...)
	}
	return ds
}

// FetchFor is [Fetcher.Fetch] for an import block, to which errors without a place belong.
func (f *Fetcher) FetchFor(ctx context.Context, addr addrs.AbsResourceInstance, r Request) diags.Diagnostics {
	ds := f.Fetch(ctx, addr, r.ID)
	for i := range ds {
		if ds[i].Subject == nil {
			ds[i].Subject = r.rng
		}
	}
	return ds
}

func notImportable(addr addrs.AbsResourceInstance, id string) diags.Diagnostics {
	return diags.Errorf(nil, "Cannot import non-existent remote object",
		"While attempting to import an existing object to %q, the provider detected that no object exists with the given id. Only pre-existing objects can be imported; check that the id %q is correct and that it is associated with the provider's configured region or endpoint.", addr, id)
}

// adopt reads an imported object, since a provider's answer to an import may have no more than the
// ID, and puts it into the prior state: from there it is planned like any stored object.
func (f *Fetcher) adopt(ctx context.Context, obj addrs.ResourceInstanceObject, x provider.Imported, id string) diags.Diagnostics {
	if x.State == cty.NilVal || x.State.IsNull() {
		return notImportable(obj.Instance, id)
	}
	for _, err := range x.State.Type().TestConformance(f.Schema.Block.ImpliedType()) {
		return diags.Errorf(nil, "Provider produced invalid object", "The imported value of %s is not valid: %s.", obj, err)
	}
	val, private, ds := f.Session.Refresh(ctx, session.Refreshing{
		Client: f.Client, Provider: f.Provider, Resource: f.Resource, Schema: f.Schema, Addr: obj, Stored: x.State, Private: x.Private,
	})
	if ds.HasErrors() {
		// The object was found, and cannot be read: Terraform reports that as drift.
		if f.Drifted != nil {
			f.Drifted(obj, plans.Change{Action: plans.Delete, Before: session.MarkSensitive(x.State, f.Schema, nil), After: f.Schema.Block.NullValue()})
		}
		return ds
	}
	if val.IsNull() {
		return append(ds, notImportable(obj.Instance, id)...)
	}
	o, err := session.Encode(session.MarkSensitive(val, f.Schema, nil), f.Schema, session.Encoding{
		Status: states.Ready, Private: private, Dependencies: nil, CreateBeforeDestroy: false,
	})
	if err != nil {
		return append(ds, diags.FromError("Provider produced invalid object", fmt.Errorf("%s: %w", obj, err))...)
	}
	f.Prior.SetObject(obj, f.Provider, o)
	return ds
}
