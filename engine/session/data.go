package session

import (
	"context"
	"time"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/config"
	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/engine/events"
	"github.com/lockstep-iac/lockstep/engine/plans"
	"github.com/lockstep-iac/lockstep/engine/schema"
	"github.com/zclconf/go-cty/cty"
)

// ReadData asks a provider for a data source's value, and checks it. The result
// has the sensitive marks of the configuration and the schema.
func ReadData(ctx context.Context, c dataReader, r *config.Resource, rs *schema.Schema, addr addrs.ResourceInstanceObject, plain cty.Value, sensitive []cty.Path, l events.Listener) (cty.Value, diags.Diagnostics) {
	l.Send(events.Event{Kind: events.ApplyStart, Addr: addr, Action: plans.Read})
	start := time.Now()
	val, ds := c.ReadData(ctx, addr.Instance.Resource.Resource.Type, plain, cty.NilVal)
	ds = Places(ds, r, addr.Instance.String())
	if ds.HasErrors() {
		l.Send(events.Event{Kind: events.ApplyFailed, Addr: addr, Action: plans.Read, Elapsed: time.Since(start)})
		return cty.NilVal, ds
	}
	bad := ""
	switch {
	case val == cty.NilVal || val.IsNull():
		bad = "the value is null"
	case !val.IsWhollyKnown():
		bad = "the value contains unknown parts"
	default:
		for _, err := range val.Type().TestConformance(rs.Block.ImpliedType()) {
			bad = Describe(err)
		}
	}
	if bad != "" {
		return cty.NilVal, append(ds, diags.Errorf(r.Range.Ptr(), "Provider produced invalid object",
			"The provider's answer for %s is not valid: %s.\n\nThis is a bug in the provider, which should be reported in the provider's own issue tracker.", addr, bad).At(addr.Instance.String())...)
	}
	val = MarkSensitive(val, rs, sensitive)
	l.Send(events.Event{Kind: events.ApplyDone, Addr: addr, Action: plans.Read, ID: ObjectID(val), Elapsed: time.Since(start)})
	return val, ds
}

// dataReader is the part of a provider that ReadData needs.
type dataReader interface {
	ReadData(ctx context.Context, typeName string, config, meta cty.Value) (cty.Value, diags.Diagnostics)
}
