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

// A Refreshing is one object of a managed resource to read again.
type Refreshing struct {
	Client   provider.Client
	Provider addrs.AbsProviderConfig
	Resource *config.Resource // nil if the object has no block
	Schema   *schema.Schema
	Addr     addrs.ResourceInstanceObject
	// Stored is the known value, in the form of the schema, with its sensitive marks; Identity is its identity or
	// cty.NilVal, and Private the data that the provider has stored with it.
	Stored   cty.Value
	Identity cty.Value
	Private  []byte
}

// Refresh asks a provider for the present value of an object, and checks the answer. The value has
// the sensitive marks of the stored one and of the schema; null is an object that is gone. The identity is the stored
// one if the provider tells none.
//
// The answer must be wholly known: it is about an object that exists. Providers made with the legacy
// SDK may return null blocks for empty ones, which is tolerated in a known value only, as by Terraform.
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
