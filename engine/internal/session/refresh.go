package session

import (
	"context"
	"time"

	"github.com/zclconf/go-cty/cty"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/config"
	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/engine/events"
	"github.com/lockstep-iac/lockstep/engine/marks"
	"github.com/lockstep-iac/lockstep/engine/provider"
	"github.com/lockstep-iac/lockstep/engine/schema"
)

// A Refreshing is the input of [Session.Refresh]: an object of a managed resource that is to be read.
type Refreshing struct {
	Client   provider.Client
	Provider addrs.AbsProviderConfig
	Resource *config.Resource // nil if the object has no block
	Schema   *schema.Schema
	Addr     addrs.ResourceInstanceObject
	// Stored is the known value of the object, conforming to the schema, with its sensitive marks. Identity is
	// the identity of the object, or cty.NilVal. Private is the provider's data stored with the object.
	Stored   cty.Value
	Identity cty.Value
	Private  []byte
}

// Refresh reads the current value of an object with its provider, and checks the answer. The value has the
// sensitive marks of the stored value and of the schema; null means that the object is gone. If the provider
// returns no identity, the result has the stored one.
//
// The answer must be wholly known, since the object exists. Providers on the legacy SDK may return null
// blocks in place of empty ones. As in Terraform, this is accepted only in a known value.
// Source: internal/terraform/node_resource_abstract_instance.go (refresh) of Terraform 1.11.
func (s *Session) Refresh(ctx context.Context, r Refreshing) (provider.ReadResponse, diags.Diagnostics) {
	meta, ds := s.Meta(ctx, r.Resource, r.Provider.Provider, r.Addr.Instance)
	if ds.HasErrors() {
		return provider.ReadResponse{}, ds
	}
	plain, paths := marks.Paths(r.Stored, marks.Sensitive)
	ev := events.Event{Kind: events.RefreshStart, Addr: r.Addr, ID: ObjectID(r.Stored)}
	s.Events.Send(ev)
	start := time.Now()
	resp, ds := r.Client.Read(provider.WithInstance(ctx, r.Addr.Instance), provider.ReadRequest{TypeName: r.Addr.Instance.Resource.Resource.Type, Prior: plain, Identity: r.Identity, Private: r.Private, Meta: meta})
	if ds = s.Place(ds, r.Resource, r.Schema, r.Addr.Instance.String()); ds.HasErrors() {
		return provider.ReadResponse{}, ds
	}
	ev.Kind, ev.Elapsed = events.RefreshDone, time.Since(start)
	s.Events.Send(ev)
	if !resp.New.IsNull() && resp.New.IsWhollyKnown() {
		resp.New = schema.NormalizeFromLegacySDK(resp.New, r.Schema.Block)
	}
	if errs := resp.New.Type().TestConformance(r.Schema.Block.ImpliedType()); len(errs) > 0 || !resp.New.IsWhollyKnown() {
		detail := "it contains unknown values"
		if len(errs) > 0 {
			detail = errs[0].Error()
		}
		return provider.ReadResponse{}, append(ds, diags.Errorf(nil, "Provider produced invalid object",
			"Provider %s planned an invalid value for %s during refresh: %s.\n\nThis is a bug in the provider, which should be reported in the provider's own issue tracker.",
			r.Provider.Provider, r.Addr, detail)...)
	}
	if resp.New.IsNull() {
		return provider.ReadResponse{New: resp.New}, ds
	}
	if resp.Identity == cty.NilVal {
		resp.Identity = r.Identity
	} else {
		ds = append(ds, checkIdentity(resp.Identity, r.Schema, r.Addr, "when it was read")...)
	}
	resp.New = MarkSensitive(resp.New, r.Schema, paths)
	return resp, ds
}
