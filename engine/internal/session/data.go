package session

import (
	"context"
	"time"

	"github.com/zclconf/go-cty/cty"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/config"
	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/engine/events"
	"github.com/lockstep-iac/lockstep/engine/plans"
	"github.com/lockstep-iac/lockstep/engine/provider"
	"github.com/lockstep-iac/lockstep/engine/schema"
)

// A Reading is the reading of one data source instance.
type Reading struct {
	Client   provider.Client
	Provider addrs.AbsProviderConfig
	Resource *config.Resource
	Schema   *schema.Schema
	Addr     addrs.ResourceInstanceObject
	// Config is the configuration without marks. Sensitive lists the paths that had sensitive marks.
	Config    cty.Value
	Sensitive []cty.Path
	Events    events.Listener
	// Foreseen is set if parts of the answer may be unknown. This is so in a plan, if the provider is the
	// built-in one, which may know the outputs that another plan will produce.
	Foreseen bool
}

// ReadData reads a data source with its provider, and checks the answer. The result has the sensitive marks
// of the configuration and the schema.
func (s *Session) ReadData(ctx context.Context, r Reading) (cty.Value, diags.Diagnostics) {
	meta, ds := s.Meta(ctx, r.Resource, r.Provider.Provider, r.Addr.Instance)
	if ds.HasErrors() {
		return cty.NilVal, ds
	}
	r.Events.Send(events.Event{Kind: events.ApplyStart, Addr: r.Addr, Action: plans.Read})
	start := time.Now()
	val, ds := r.Client.ReadData(provider.WithInstance(ctx, r.Addr.Instance), r.Resource.Addr.Type, r.Config, meta)
	ds = s.Place(ds, r.Resource, r.Schema, r.Addr.Instance.String())
	if ds.HasErrors() {
		r.Events.Send(events.Event{Kind: events.ApplyFailed, Addr: r.Addr, Action: plans.Read, Elapsed: time.Since(start)})
		return cty.NilVal, ds
	}
	bad := ""
	switch {
	case val == cty.NilVal || val.IsNull():
		bad = "the value is null"
	case !val.IsWhollyKnown() && !r.Foreseen:
		bad = "the value contains unknown parts"
	default:
		for _, err := range val.Type().TestConformance(r.Schema.Block.ImpliedType()) {
			bad = Describe(err)
		}
	}
	if bad != "" {
		return cty.NilVal, append(ds, diags.Errorf(nil, "Provider produced invalid object",
			"The answer of provider %q for %s is not valid: %s.\n\nThis is a bug in the provider, which should be reported in the provider's own issue tracker.", r.Provider.Provider, r.Addr, bad)...)
	}
	val = MarkSensitive(val, r.Schema, r.Sensitive)
	r.Events.Send(events.Event{Kind: events.ApplyDone, Addr: r.Addr, Action: plans.Read, ID: ObjectID(val), Elapsed: time.Since(start)})
	return val, ds
}
