package applying

import (
	"context"

	"github.com/zclconf/go-cty/cty"

	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/engine/internal/session"
	"github.com/lockstep-iac/lockstep/engine/marks"
	"github.com/lockstep-iac/lockstep/engine/plans"
	"github.com/lockstep-iac/lockstep/engine/provider"
	"github.com/lockstep-iac/lockstep/engine/schema"
	"github.com/lockstep-iac/lockstep/engine/states"
)

// planAgain asks the provider for a plan with all values that are now known, and compares it with the
// approved plan. The second plan may only fill in unknown values. In particular, it must not ask for a
// replacement if an update was approved: nobody has agreed to losing the object.
func (x *object) planAgain(ctx context.Context, config cty.Value, prior *states.Object, priorValue cty.Value) (*session.Question, diags.Diagnostics) {
	q := &session.Question{
		Session: x.a.s, Client: x.client, Provider: x.c.Provider, Resource: x.r, Schema: x.rs, Addr: x.c.Addr.Instance,
		Config: config, Prior: priorValue, Private: x.c.Private,
	}
	if prior != nil {
		q.Private, q.Identity = prior.Private, x.identity(ctx, prior)
	}
	ds := q.Validate(ctx)
	if ds.HasErrors() {
		return q, ds
	}
	if ds = append(ds, q.Ask(ctx)...); ds.HasErrors() {
		return q, ds
	}
	if x.c.Action == plans.Update && len(q.RequiredReplace) > 0 {
		return q, append(ds, x.inconsistent("planned to update the object, but now it would have to be replaced")...)
	}
	approved := marks.Plain(x.c.After)
	final := marks.Plain(q.Planned)
	for _, err := range schema.AssertObjectCompatible(x.rs.Block, approved, final) {
		ds = append(ds, x.inconsistent(session.Describe(err))...)
	}
	return q, ds
}

// identity returns the identity of an object to update; cty.NilVal if there is none. If the state was written
// without identities and not refreshed since, the method reads the identity first: many providers fail to
// update an object without one.
func (x *object) identity(ctx context.Context, o *states.Object) cty.Value {
	if v := x.a.s.StoredIdentity(x.rs, o); v != cty.NilVal || x.rs.Identity == nil {
		return v
	}
	is, ds := x.readObject(ctx, x.c.Addr, o)
	if ds.HasErrors() || is == nil {
		return cty.NilVal // the update itself reports the error
	}
	return x.a.s.StoredIdentity(x.rs, is)
}

// inconsistent returns the error about a second plan that contradicts the first; difference says how. Almost
// always it is a bug of the provider: it has planned a known value without knowing it.
func (x *object) inconsistent(difference string) diags.Diagnostics {
	return diags.Errorf(nil, "Provider produced inconsistent final plan",
		"When expanding the plan for %s to include new values learned so far during apply, provider %q produced an invalid new value: %s.\n\nThis is a bug in the provider, which should be reported in the provider's own issue tracker.",
		x.c.Addr, x.c.Provider.Provider, difference)
}

// newState checks the provider's answer to an apply. If there are errors, it keeps the valid part of the
// answer, since the object may exist. The result is null if there is no object.
//
// After an update without a usable answer, the new state is the prior object, not null. The object still gets
// the dependencies of the current configuration, by which it should have been updated. Source: Terraform
// 1.11.4, internal/terraform/node_resource_apply_instance.go.
func (x *object) newState(resp provider.ApplyResponse, verb plans.Action, planned, prior cty.Value, failed bool) (cty.Value, diags.Diagnostics) {
	v := resp.New
	bad := func(summary, detail string, args ...any) diags.Diagnostics {
		args = append([]any{x.c.Provider.Provider, x.c.Addr}, args...)
		return diags.Errorf(nil, summary, "After the apply operation, provider %q returned an invalid result for %s: "+detail+".\n\nThis is a bug in the provider, which should be reported in the provider's own issue tracker. What the provider returned has been saved as far as possible.", args...)
	}
	kept := x.rs.Block.NullValue()
	if verb == plans.Update {
		kept = prior
	}
	if v == cty.NilVal || v.IsNull() {
		if failed {
			return kept, nil
		}
		return kept, bad("Provider produced inconsistent result after apply", "root object was present, but now absent")
	}
	var ds diags.Diagnostics
	if errs := v.Type().TestConformance(x.rs.Block.ImpliedType()); len(errs) > 0 {
		return kept, bad("Provider produced invalid object", "%s", session.Describe(errs[0]))
	}
	if !v.IsWhollyKnown() {
		ds = append(ds, bad("Provider returned invalid result object after apply", "all values must be known after apply")...)
		v = schema.UnknownAsNull(v)
	}
	if !failed && !ds.HasErrors() && !resp.LegacyTypeSystem {
		for _, err := range schema.AssertObjectCompatible(x.rs.Block, planned, v) {
			ds = append(ds, bad("Provider produced inconsistent result after apply", "%s", session.Describe(err))...)
		}
	}
	return v, ds
}
