package planning

import (
	"context"

	"github.com/zclconf/go-cty/cty"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/engine/eval"
	"github.com/lockstep-iac/lockstep/engine/events"
	"github.com/lockstep-iac/lockstep/engine/marks"
	"github.com/lockstep-iac/lockstep/engine/plans"
	"github.com/lockstep-iac/lockstep/engine/provider"
	"github.com/lockstep-iac/lockstep/engine/schema"
	"github.com/lockstep-iac/lockstep/engine/session"
	"github.com/lockstep-iac/lockstep/engine/states"
)

// instance is the planning of one wanted instance of a managed resource.
type instance struct {
	*block
	addr  addrs.AbsResourceInstance
	scope eval.Scope
	found existing
}

func (x *instance) object() addrs.ResourceInstanceObject {
	return addrs.ResourceInstanceObject{Instance: x.addr}
}

// plan returns the value that the instance will have, for what depends on it.
func (x *instance) plan(ctx context.Context) (cty.Value, diags.Diagnostics) {
	importing, ds := x.importObject(ctx)
	if ds.HasErrors() {
		return cty.NilVal, ds
	}
	var more diags.Diagnostics
	if x.found, more = x.refresh(ctx, x.object()); more.HasErrors() {
		return cty.NilVal, append(ds, more...)
	}
	ds = append(ds, more...)
	switch {
	case x.p.in.Mode == plans.DestroyMode:
		v := x.found.prior
		if x.found.object == nil {
			v = cty.UnknownVal(x.rs.Block.ImpliedType())
			return v, ds
		}
		return v, append(ds, x.delete(ctx, x.object(), x.found, plans.ReasonNone)...)
	case x.p.in.Mode == plans.RefreshOnlyMode:
		v := x.found.prior
		if v.IsNull() {
			v = cty.UnknownVal(x.rs.Block.ImpliedType())
		} else {
			ds = append(ds, x.postconditions(v)...)
		}
		return v, ds
	}
	change, more := x.change(ctx)
	if ds = append(ds, more...); more.HasErrors() {
		return cty.NilVal, ds
	}
	change.Importing = importing
	if change.Action == plans.NoOp {
		x.settle()
	}
	x.p.record(change)
	x.p.in.Events.Send(events.Event{Kind: events.Planned, Addr: x.object(), Action: change.Action})
	return change.After, append(ds, x.postconditions(change.After)...)
}

// settle stores the configuration's dependencies with an object that will not
// change: an apply has no occasion to.
func (x *instance) settle() {
	o := *x.found.object
	o.Dependencies = x.p.deps.state(x.cr)
	x.p.setObject(x.object(), x.pc, &o)
}

// change plans what becomes of the instance.
func (x *instance) change(ctx context.Context) (*plans.ResourceChange, diags.Diagnostics) {
	ds := x.preconditions()
	if ds.HasErrors() {
		return nil, ds
	}
	config, more := x.config(ctx)
	if ds = append(ds, more...); more.HasErrors() {
		return nil, ds
	}
	q := &question{instance: x, config: config}
	if x.found.object != nil {
		q.private = x.found.object.Private
	}
	q.prior = x.found.prior
	tainted := x.found.object != nil && x.found.object.Status == states.Tainted
	if tainted {
		q.prior, q.private = x.rs.Block.NullValue(), nil
	}
	if more := q.ask(ctx); more.HasErrors() {
		return nil, append(ds, more...)
	} else {
		ds = append(ds, more...)
	}
	action, reason, more := x.decide(q, tainted)
	if ds = append(ds, more...); ds.HasErrors() {
		return nil, ds
	}
	if action.IsReplace() && !tainted {
		// The new object is planned for itself, as one that has no predecessor.
		again := &question{instance: x, config: config, prior: x.rs.Block.NullValue(), private: q.privateOut}
		if more := again.ask(ctx); more.HasErrors() {
			return nil, append(ds, more...)
		} else {
			ds = append(ds, more...)
		}
		q.planned, q.privateOut = again.planned, again.privateOut
	}
	if action.IsReplace() && x.r.PreventDestroy {
		return nil, append(ds, x.prevented()...)
	}
	return &plans.ResourceChange{
		Addr: x.object(), Provider: x.pc, Reason: reason, Schema: x.rs,
		Change:              plans.Change{Action: action, Before: x.found.prior, After: q.planned},
		Private:             q.privateOut,
		RequiredReplace:     q.requiredReplace,
		CreateBeforeDestroy: x.cbd,
		StoredDeps:          x.storedDeps(),
	}, ds
}

func (x *instance) storedDeps() *states.Dependencies {
	if x.found.object == nil {
		return nil
	}
	return x.found.object.Dependencies
}

// decide chooses the action.
func (x *instance) decide(q *question, tainted bool) (plans.Action, plans.Reason, diags.Diagnostics) {
	replace := plans.DeleteThenCreate
	if x.cbd {
		replace = plans.CreateThenDelete
	}
	switch {
	case tainted:
		return replace, plans.ReasonReplaceBecauseTainted, nil
	case x.found.object == nil:
		return plans.Create, plans.ReasonNone, nil
	}
	if x.forceReplace() {
		return replace, plans.ReasonReplaceByRequest, nil
	}
	triggered, ds := x.triggered()
	if ds.HasErrors() {
		return plans.NoOp, plans.ReasonNone, ds
	}
	if triggered {
		return replace, plans.ReasonReplaceByTriggers, nil
	}
	if equal(q.planned, q.prior) {
		if !sameMarks(q.planned, q.prior) {
			return plans.Update, plans.ReasonNone, nil // only what the state says about sensitivity changes
		}
		return plans.NoOp, plans.ReasonNone, nil
	}
	if len(q.requiredReplace) > 0 {
		return replace, plans.ReasonReplaceBecauseCannot, nil
	}
	return plans.Update, plans.ReasonNone, nil
}

func (x *instance) forceReplace() bool {
	for _, a := range x.p.in.ForceReplace {
		if a == x.addr {
			return true
		}
	}
	return false
}

// sameMarks reports whether the same paths are sensitive.
func sameMarks(a, b cty.Value) bool {
	_, pa := marks.Paths(a, marks.Sensitive)
	_, pb := marks.Paths(b, marks.Sensitive)
	return cty.NewPathSet(pa...).Equal(cty.NewPathSet(pb...))
}

// config evaluates the configuration value and has the provider check it.
func (x *instance) config(ctx context.Context) (cty.Value, diags.Diagnostics) {
	val, ds := x.p.s.ResourceConfig(x.r, x.rs, x.scope)
	if ds = ds.At(x.addr.String()); ds.HasErrors() {
		return val, ds
	}
	if val.ContainsMarked() {
		more := x.rs.Block.CheckEphemeral(val)
		if ds = append(ds, more.At(x.addr.String())...); ds.HasErrors() {
			return val, ds
		}
	}
	plain, _ := val.UnmarkDeep()
	more := x.client.ValidateResource(ctx, x.r.Addr.Type, plain)
	return val, append(ds, session.Places(more, x.r, x.addr.String())...)
}

func (x *instance) preconditions() diags.Diagnostics {
	return x.conditionsOf(eval.Scope{Module: x.scope.Module, Instance: x.scope.Instance}, true)
}

func (x *instance) postconditions(self cty.Value) diags.Diagnostics {
	return x.conditionsOf(eval.Scope{Module: x.scope.Module, Instance: x.scope.Instance, Self: self}, false)
}

func (x *instance) conditionsOf(s eval.Scope, pre bool) diags.Diagnostics {
	cs, summary := x.r.Postconditions, "Resource postcondition failed"
	if pre {
		cs, summary = x.r.Preconditions, "Resource precondition failed"
	}
	if len(cs) == 0 {
		return nil
	}
	return x.p.s.Eval.Conditions(cs, s, "resource", x.cr.String(), x.addr.String(), summary).At(x.addr.String())
}

// prevented says that the object would be destroyed, but must not be.
func (x *instance) prevented() diags.Diagnostics {
	return prevented(x.block, x.addr)
}

func prevented(b *block, addr addrs.AbsResourceInstance) diags.Diagnostics {
	return diags.Errorf(b.r.Range.Ptr(), "Instance cannot be destroyed",
		"Resource %s has lifecycle.prevent_destroy set, but the plan calls for this resource to be destroyed. To avoid this error and continue with the plan, either disable lifecycle.prevent_destroy or reduce the scope of the plan using the -target option.", addr).At(addr.String())
}

// A question is one PlanResourceChange call with what it takes and gives.
type question struct {
	*instance
	config  cty.Value // with marks
	prior   cty.Value // with marks
	private []byte

	planned         cty.Value // with sensitive marks
	privateOut      []byte
	requiredReplace []cty.Path
}

// ask proposes a new value to the provider and checks the answer: configuration
// + prior state -> proposed new state -> planned state.
func (q *question) ask(ctx context.Context) diags.Diagnostics {
	plainPrior, _ := q.prior.UnmarkDeep()
	config, ds := ignoreChanges(q.r, plainPrior, q.config)
	if ds.HasErrors() {
		return ds.At(q.addr.String())
	}
	plainConfig, sensitive := marks.Paths(config, marks.Sensitive)
	proposed := schema.ProposedNew(q.rs.Block, plainPrior, plainConfig)
	resp, more := q.client.Plan(ctx, provider.PlanRequest{
		TypeName: q.r.Addr.Type, Prior: plainPrior, Proposed: proposed, Config: plainConfig, Private: q.private,
	})
	if ds = append(ds, session.Places(more, q.r, q.addr.String())...); ds.HasErrors() {
		return ds
	}
	if ds = append(ds, q.checkPlanned(plainPrior, plainConfig, resp)...); ds.HasErrors() {
		return ds
	}
	q.planned = session.MarkSensitive(resp.Planned, q.rs, sensitive)
	q.privateOut = resp.Private
	if q.requiredReplace, more = q.replacePaths(plainPrior, resp); more.HasErrors() {
		return append(ds, more...)
	}
	return ds
}

// checkPlanned holds the provider's answer against the contract.
func (q *question) checkPlanned(prior, config cty.Value, resp provider.PlanResponse) diags.Diagnostics {
	bad := func(what string) diags.Diagnostics {
		return diags.Errorf(nil, "Provider produced invalid plan",
			"Provider %q planned an invalid value for %s: %s.\n\nThis is a bug in the provider, which should be reported in the provider's own issue tracker.", q.pc.Provider, q.addr, what).At(q.addr.String())
	}
	if resp.Planned == cty.NilVal || resp.Planned.IsNull() {
		return bad("the planned value is null")
	}
	for _, err := range resp.Planned.Type().TestConformance(q.rs.Block.ImpliedType()) {
		return bad(describe(err))
	}
	if resp.LegacyTypeSystem {
		return nil // older SDKs cannot keep the contract and are exempt
	}
	var ds diags.Diagnostics
	for _, err := range schema.AssertPlanValid(q.rs.Block, prior, config, resp.Planned) {
		ds = append(ds, bad(describe(err))...)
	}
	return ds
}

// describe returns an error's text behind the path of the attribute it is about.
func describe(err error) string {
	if pe, ok := err.(cty.PathError); ok {
		return schema.FormatPath(pe.Path) + ": " + pe.Error()
	}
	return err.Error()
}

// replacePaths returns those of the provider's RequiresReplace paths whose value
// changes.
func (q *question) replacePaths(prior cty.Value, resp provider.PlanResponse) ([]cty.Path, diags.Diagnostics) {
	if len(resp.RequiresReplace) == 0 || prior.IsNull() {
		return nil, nil
	}
	var out []cty.Path
	for _, path := range resp.RequiresReplace {
		if len(path) == 0 {
			continue
		}
		after, errAfter := path.Apply(resp.Planned)
		before, errBefore := path.Apply(prior)
		switch {
		case errAfter != nil && errBefore != nil:
			return nil, diags.Errorf(nil, "Provider produced invalid plan",
				"Provider %q has indicated \"requires replacement\" on %s for a non-existent attribute path %s.\n\nThis is a bug in the provider, which should be reported in the provider's own issue tracker.",
				q.pc.Provider, q.addr, schema.FormatPath(path)).At(q.addr.String())
		case errAfter != nil || errBefore != nil || !after.RawEquals(before):
			out = append(out, path)
		}
	}
	return out, nil
}
