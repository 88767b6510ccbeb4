package planning

import (
	"context"

	"github.com/zclconf/go-cty/cty"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/engine/eval"
	"github.com/lockstep-iac/lockstep/engine/internal/session"
	"github.com/lockstep-iac/lockstep/engine/marks"
	"github.com/lockstep-iac/lockstep/engine/plans"
	"github.com/lockstep-iac/lockstep/engine/states"
)

// instance plans one declared instance: import, refresh, preconditions, the provider's plan, choosing an
// action, postconditions.
//
// The order of these steps is Terraform's, and people notice it. The object is refreshed before the
// preconditions, so that drift is shown even if a precondition fails. Preconditions are evaluated before the
// arguments, because they explain errors that would be hard to understand otherwise. Postconditions check the
// planned value. If it is unknown, so is their result, and the apply evaluates them again.
type instance struct {
	*block
	addr  addrs.AbsResourceInstance
	scope eval.Scope
	found refreshed
	// imported is true if an import has just added the object to the prior state.
	imported bool
	weighed  weighed // in a plan that reads only what is affected
	// unchanged is set if the instance does not change, and its value is not kept: see leave.
	unchanged bool
}

func (x *instance) object() addrs.ResourceInstanceObject {
	return addrs.ResourceInstanceObject{Instance: x.addr}
}

// plan plans the instance, and returns its planned value, to which other blocks refer. If the instance is
// unchanged, the value is cty.NilVal: the prior state has it.
//
// In a plan that only refreshes, nothing is planned: the value is the refreshed object, or unknown without an
// object. Conditions are still evaluated, because their results are part of the state.
func (x *instance) plan(ctx context.Context) (cty.Value, diags.Diagnostics) {
	importing, ds := x.importObject(ctx)
	if ds.HasErrors() {
		return cty.NilVal, ds
	}
	if x.p.affected != nil {
		x.weigh(ctx)
	}
	var more diags.Diagnostics
	if x.found, more = x.present(ctx); more.HasErrors() {
		return cty.NilVal, append(ds, more...)
	}
	ds = append(ds, more...)
	if x.p.in.Mode == plans.RefreshOnlyMode {
		ds = append(ds, x.preconditions()...)
		if x.found.value.IsNull() {
			return cty.UnknownVal(x.rs.Block.ImpliedType()), ds
		}
		return x.found.value, append(ds, x.postconditions(x.found.value)...)
	}
	change, more := x.change(ctx)
	if ds = append(ds, more...); more.HasErrors() {
		return cty.NilVal, ds
	}
	change.Importing = importing
	v := x.rs.Block.Referred(change.After)
	if change.Action == plans.NoOp {
		x.settle()
		if x.p.affected != nil {
			x.p.affected.record(x) // which may still read the object, and compares it then
		} else {
			x.leave(change)
		}
	}
	x.p.changes.Record(change)
	if change.Action.IsReplace() && !change.KeepsOld {
		if more := x.protect(x.addr); more.HasErrors() {
			return cty.NilVal, append(ds, more...)
		}
	}
	ds = append(ds, x.postconditions(v)...)
	if x.unchanged {
		return cty.NilVal, ds
	}
	return v, ds
}

// settle stores the current dependencies and create-before-destroy setting with an object that will not change,
// because an apply does not touch the object. Exception: if the object was just imported and its block has no
// dependencies, settle stores nothing until the next plan. Source: Terraform 1.11.4.
func (x *instance) settle() {
	o := *x.found.object
	deps := x.p.deps.Stored(x.cr)
	if x.imported && len(deps.All()) == 0 {
		return
	}
	if x.stores(o.Dependencies) && o.CreateBeforeDestroy == x.cbd && o.SkipDestroy == x.r.Keep {
		return
	}
	o.Dependencies, o.CreateBeforeDestroy, o.SkipDestroy = deps, x.cbd, x.r.Keep
	x.p.prior.SetObject(x.object(), x.pc, &o)
}

// change plans the action and the new value of the instance. A change of an object that was not read is planned
// again after reading it.
func (x *instance) change(ctx context.Context) (*plans.ResourceChange, diags.Diagnostics) {
	ds := x.preconditions()
	if ds.HasErrors() {
		return nil, ds
	}
	config, more := x.config()
	if ds = append(ds, more...); more.HasErrors() {
		return nil, ds
	}
	w := &x.weighed
	if w.settled && !w.sampled {
		return x.settledChange(), ds
	}
	more = x.question(config).Validate(ctx)
	if ds = append(ds, more...); more.HasErrors() {
		return nil, ds
	}
	change, found := x.propose(ctx, config)
	w.clean = len(more)+len(found) == 0
	if w.settled && (!w.clean || change.Action != plans.NoOp) {
		x.p.affected.doubt(w.name)
	}
	if w.unread && (found.HasErrors() || change.Action != plans.NoOp) {
		w.unread = false
		if x.found, more = x.refresh(ctx, x.object()); more.HasErrors() {
			return nil, append(ds, more...)
		}
		ds = append(ds, more...)
		change, found = x.propose(ctx, config)
	}
	return change, append(ds, found...)
}

// propose asks the provider to plan the instance with the given configuration, and decides the action. A
// replacement is planned twice. The first plan, against the old object, shows that a replacement is needed. The
// second plan is for an object without a predecessor. A tainted object is planned as a new one at once.
func (x *instance) propose(ctx context.Context, config cty.Value) (*plans.ResourceChange, diags.Diagnostics) {
	var ds diags.Diagnostics
	q := x.question(config)
	if x.found.object != nil {
		q.Private, q.Identity = x.found.object.Private, x.found.identity
	}
	q.Prior = x.found.value
	tainted := x.found.object != nil && x.found.object.Status == states.Tainted
	if tainted {
		q.Prior, q.Identity, q.Private = x.rs.Block.NullValue(), cty.NilVal, nil
	}
	if more := q.Ask(ctx); more.HasErrors() {
		return nil, append(ds, more...)
	} else {
		ds = append(ds, more...)
	}
	action, reason, more := x.decide(q, tainted)
	if ds = append(ds, more...); ds.HasErrors() {
		return nil, ds
	}
	if action.IsReplace() && !tainted {
		// Plan the new object as if there were no old one. Only the private data and the identity of the first
		// answer are sent to the provider a second time.
		again := x.question(config)
		again.Prior, again.Identity, again.Private = x.rs.Block.NullValue(), q.PlannedIdentity, q.PlannedPrivate
		if more := again.Ask(ctx); more.HasErrors() {
			return nil, append(ds, more...)
		} else {
			ds = append(ds, more...)
		}
		// ignore_changes does not affect the values of a new object. The marks come from the configuration, but
		// for ignored arguments from the old object.
		q.Planned, q.PlannedPrivate = session.MarkSensitive(again.Planned, x.rs, q.Sensitive), again.PlannedPrivate
		q.PlannedIdentity = again.PlannedIdentity
	}
	if action == plans.NoOp {
		q.Planned = x.found.value // equal; sharing it saves the memory of a second value
	}
	return &plans.ResourceChange{
		Addr: x.object(), Provider: x.pc, Reason: reason, Schema: x.rs,
		Change: plans.Change{
			Action: action, Before: x.found.value, After: q.Planned, BeforeIdentity: x.found.identity, AfterIdentity: x.plannedIdentity(action, q),
		},
		Private:             q.PlannedPrivate,
		RequiredReplace:     q.RequiredReplace,
		CreateBeforeDestroy: x.cbd,
		KeepsOld:            action.IsReplace() && x.r.Keep,
		StoredDeps:          x.storedDeps(),
	}, ds
}

// plannedIdentity returns the identity after a change. If the provider plans none, an object that stays keeps
// its identity.
func (x *instance) plannedIdentity(action plans.Action, q *session.Question) cty.Value {
	if q.PlannedIdentity == cty.NilVal && (action == plans.NoOp || action == plans.Update) {
		return x.found.identity
	}
	return q.PlannedIdentity
}

// question prepares a call to the provider. Make a new one for each call, since it stores the answer.
func (x *instance) question(config cty.Value) *session.Question {
	return &session.Question{Session: x.p.s, Client: x.client, Provider: x.pc, Resource: x.r, Schema: x.rs, Addr: x.addr, Config: config}
}

// storedDeps returns the dependencies stored with the object. They order the destruction of the object: in a
// replacement, the stored dependencies are for the old object, and the configuration's dependencies for the
// new one.
func (x *instance) storedDeps() *states.Dependencies {
	if x.found.object == nil {
		return nil
	}
	return x.found.object.Dependencies
}

// decide chooses the action and its reason. The order of the cases is Terraform's precedence of reasons:
// trigger, taint, request, then a difference between the values.
//
// Equal values do not always mean no change. Marks are stored with an object, and an object whose marks
// change is updated, although the provider has nothing to do. The provider lists paths whose change requires
// a replacement. These paths count only if the value differs: some providers always list them.
func (x *instance) decide(q *session.Question, tainted bool) (plans.Action, plans.Reason, diags.Diagnostics) {
	replace := plans.DeleteThenCreate
	if x.cbd {
		replace = plans.CreateThenDelete
	}
	triggered, ds := x.triggers().fires()
	switch {
	case ds.HasErrors():
		return plans.NoOp, plans.ReasonNone, ds
	case triggered && x.found.object == nil:
		// Terraform 1.11.4 gives this reason even if the object is created, not replaced.
		return plans.Create, plans.ReasonReplaceByTriggers, nil
	case triggered:
		return replace, plans.ReasonReplaceByTriggers, nil
	case tainted:
		return replace, plans.ReasonReplaceBecauseTainted, nil
	case x.found.object == nil:
		return plans.Create, plans.ReasonNone, nil
	case x.forceReplace():
		return replace, plans.ReasonReplaceByRequest, nil
	}
	if equal(q.Planned, q.Prior) {
		if !session.SameMarks(q.Planned, q.Prior) || x.found.lacking {
			return plans.Update, plans.ReasonNone, nil // only the stored sensitivity changes
		}
		return plans.NoOp, plans.ReasonNone, nil
	}
	if len(q.RequiredReplace) > 0 {
		return replace, plans.ReasonReplaceBecauseCannot, nil
	}
	return plans.Update, plans.ReasonNone, nil
}

// triggers returns the argument replace_triggered_by.
func (x *instance) triggers() triggerList {
	return triggerList{Entries: x.r.ReplaceTriggeredBy, Module: x.m, Scope: x.scope, Changes: x.p.changes}
}

// forceReplace reports whether -replace names exactly this instance. For other addresses see replaceWarnings.
func (x *instance) forceReplace() bool {
	for _, a := range x.p.in.ForceReplace {
		if a == x.addr {
			return true
		}
	}
	return false
}

// config evaluates the configuration value. Ephemeral values are allowed only in write-only arguments, which are
// never stored. This is checked before the provider gets them.
// Source: https://developer.hashicorp.com/terraform/language/manage-sensitive-data/write-only
func (x *instance) config() (cty.Value, diags.Diagnostics) {
	val, ds := x.weighed.config, x.weighed.ds
	if !x.weighed.done {
		val, ds = x.p.s.ResourceConfig(x.r, x.rs, x.scope)
	}
	if ds.HasErrors() {
		return val, ds
	}
	if marks.Any(val) {
		more := x.rs.Block.CheckEphemeral(val)
		ds = append(ds, x.place(more, x.addr)...)
	}
	return val, ds
}

func (x *instance) preconditions() diags.Diagnostics {
	return x.conditionsOf(eval.Scope{Module: x.scope.Module, Instance: x.scope.Instance}, true)
}

func (x *instance) postconditions(self cty.Value) diags.Diagnostics {
	return x.conditionsOf(eval.Scope{Module: x.scope.Module, Instance: x.scope.Instance, Self: self}, false)
}

// conditionsOf evaluates the preconditions of the instance if pre is set, otherwise its postconditions. It
// records the results with the instance, for the plan and the state. An apply evaluates conditions with an
// unknown result again.
func (x *instance) conditionsOf(s eval.Scope, pre bool) diags.Diagnostics {
	cs, summary := x.r.Postconditions, "Resource postcondition failed"
	if pre {
		cs, summary = x.r.Preconditions, "Resource precondition failed"
	}
	if len(cs) == 0 {
		return nil
	}
	return x.p.s.Eval.Conditions(cs, s, session.ResourceSubject(x.addr), summary)
}

// prevented returns the error for an instance that prevent_destroy protects.
func prevented(b *block, addr addrs.AbsResourceInstance) diags.Diagnostics {
	return diags.Errorf(b.r.Range.Ptr(), "Instance cannot be destroyed",
		"Resource %s has lifecycle.prevent_destroy set, but the plan calls for this resource to be destroyed. To avoid this error and continue with the plan, either disable lifecycle.prevent_destroy or reduce the scope of the plan using the -target option.", addr)
}
