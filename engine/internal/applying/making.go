package applying

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"slices"

	"github.com/zclconf/go-cty/cty"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/engine/eval"
	"github.com/lockstep-iac/lockstep/engine/internal/session"
	"github.com/lockstep-iac/lockstep/engine/marks"
	"github.com/lockstep-iac/lockstep/engine/plans"
	"github.com/lockstep-iac/lockstep/engine/provider"
	"github.com/lockstep-iac/lockstep/engine/states"
)

// make creates or updates the object. It evaluates postconditions even after errors: a partly made object has
// results of its own.
//
// After an error the state is saved at once. A crash must not lose a partly made object: the next plan would
// create it a second time.
func (x *object) make(ctx context.Context) diags.Diagnostics {
	q, prior, scope, ds := x.prepare(ctx)
	if ds.HasErrors() {
		return ds
	}
	if more := x.beforeMaking(ctx, q.Planned); more.HasErrors() {
		return append(ds, more...)
	} else {
		ds = append(ds, more...)
	}
	made, more := x.perform(ctx, q, prior)
	if made != cty.NilVal && !more.HasErrors() {
		more = append(more, x.afterMaking(ctx, made)...)
	}
	ds = append(ds, more...)
	failed := x.postconditions(made, scope)
	ds = append(ds, failed...)
	if made != cty.NilVal && !more.HasErrors() && !failed.HasErrors() {
		x.a.digests.add(ctx, x, q.Config)
	}
	if more.HasErrors() {
		x.a.report.add(x.a.record.save(ctx))
	}
	return ds
}

// prepare evaluates the configuration and asks the provider to plan again.
func (x *object) prepare(ctx context.Context) (*session.Question, *states.Object, eval.Scope, diags.Diagnostics) {
	scope, ds := x.a.values.scope(x.c.Addr.Instance, x.r)
	if ds = append(ds, x.a.values.openNeeded(ctx, x.c.Addr.Instance.Config())...); ds.HasErrors() {
		return nil, nil, scope, ds
	}
	if ds = append(ds, x.conditions(x.r.Preconditions, scope, "Resource precondition failed")...); ds.HasErrors() {
		return nil, nil, scope, ds
	}
	config, more := x.a.s.ResourceConfig(x.r, x.rs, scope)
	if ds = append(ds, more...); ds.HasErrors() {
		return nil, nil, scope, ds
	}
	// The order of steps ensures that all values are known by now. Exception: in a plan with -target, objects
	// that are not targeted may not exist, and their values are unknown. The message then names the targets as
	// the cause.
	if !marks.Plain(config).IsWhollyKnown() {
		x.a.failures.notCreated(x.c.Addr.Instance.AbsResource())
		remedy := "This is a bug in Lockstep: please report it."
		if x.a.in.Plan.Partial() {
			remedy = "Plan the whole configuration, or what is missing, too."
		}
		return nil, nil, scope, append(ds, diags.Errorf(x.r.Range.Ptr(), "Configuration contains unknown value",
			"The configuration of %s depends on what does not exist, and is not part of this plan. %s", x.c.Addr, remedy)...)
	}
	prior, value, more := x.prior(ctx)
	if ds = append(ds, more...); ds.HasErrors() {
		return nil, nil, scope, ds
	}
	q, more := x.planAgain(ctx, config, prior, value)
	return q, prior, scope, append(ds, more...)
}

// prior returns the object to update, and its value; nil and null for a creation. A replacement counts as a
// creation here, whether or not its old object still exists.
//
// The object comes from the record. If an earlier process was interrupted during the update, the state of the
// real object is unknown, and prior reads the object again (see resuming.go).
//
// The object may be missing: this process found it gone after the interruption, or an earlier process did and
// died. Without an interruption this cannot happen, since the plan fits the state.
func (x *object) prior(ctx context.Context) (*states.Object, cty.Value, diags.Diagnostics) {
	null := x.rs.Block.NullValue()
	if x.c.Action != plans.Update {
		return nil, null, nil
	}
	o := x.a.record.object(x.c.Addr)
	var ds diags.Diagnostics
	if o != nil && x.interrupted {
		if o, ds = x.look(ctx, x.c.Addr, o); ds.HasErrors() {
			return nil, null, ds
		}
		if o == nil {
			return nil, null, append(ds, diags.Errorf(nil, "Object to update is gone",
				"The update of %s was interrupted, and there is no such object any more. Make a new plan.", x.c.Addr)...)
		}
	}
	if o == nil {
		remedy := "This is a bug in Lockstep: please report it."
		if x.interrupted { // another process has found the object gone, and died
			remedy = "Its update was interrupted. Make a new plan."
		}
		return nil, null, diags.Errorf(nil, "Object to update is gone",
			"The state has no %s any more, although the plan is to update it. %s", x.c.Addr, remedy)
	}
	v, more := x.a.s.Stored(x.c.Addr.Instance, x.rs, o)
	return o, v, append(ds, more...)
}

// listsPaths reports whether the planned change changes no value: it only adds paths to the list of sensitive
// paths in the state (see [session.LacksPaths]). The prior state of the plan has the complete list already.
func (x *object) listsPaths() bool {
	return x.c.Action == plans.Update && x.c.Before.RawEquals(x.c.After)
}

// postconditions checks the new object, even one that is only partly made. If there is none, it checks the
// previous object, which may still exist. If there is neither, self is unknown. In a resource with count or
// for_each, conditions that refer to self then cannot be evaluated, as in Terraform 1.11.4.
func (x *object) postconditions(made cty.Value, scope eval.Scope) diags.Diagnostics {
	if len(x.r.Postconditions) == 0 {
		return nil
	}
	if scope.Self = made; made == cty.NilVal {
		var ds diags.Diagnostics
		if o := x.a.record.object(x.c.Addr); o == nil {
			scope.Self, scope.SelfGone = cty.DynamicVal, !x.c.Addr.Instance.Resource.Key.IsNone()
		} else if scope.Self, ds = x.a.s.Stored(x.c.Addr.Instance, x.rs, o); ds.HasErrors() {
			return ds
		}
	}
	return x.conditions(x.r.Postconditions, scope, "Resource postcondition failed")
}

// perform asks the provider to act, and records the result. It returns the object's new value. There may be a value
// and errors at the same time.
//
// All values are known now. If an update turns out to change nothing, perform does not ask the provider.
func (x *object) perform(ctx context.Context, q *session.Question, prior *states.Object) (cty.Value, diags.Diagnostics) {
	plainPrior := marks.Plain(q.Prior)
	planned := marks.Plain(q.Planned)
	config := marks.Plain(q.Config)
	if prior != nil && plainPrior.RawEquals(planned) {
		if session.SameMarks(q.Prior, q.Planned) && !x.listsPaths() && !x.interrupted {
			return q.Planned, nil // nothing to do: the object keeps its dependencies, too
		}
		// The provider is not called in two cases. In the first, only the sensitive paths change, which the
		// provider does not know. In the second, an earlier process has made the call.
		at := x.begin(plans.Update, q.Prior)
		ds := x.store(q.Planned, states.Ready, session.EncodeIdentity(x.plannedIdentity(q), x.rs, prior.Identity), prior.Private)
		at.end(ds.HasErrors())
		return q.Planned, ds
	}
	restore := x.depose()
	verb := plans.Create
	if prior != nil {
		verb = plans.Update
	}
	at := x.begin(verb, q.Prior)
	call := x.effect(ctx, x.c.Addr, verb, q.Planned, provider.ApplyRequest{
		TypeName: x.r.Addr.Type, Prior: plainPrior, Planned: planned, Config: config, Identity: x.plannedIdentity(q), Private: q.PlannedPrivate, Meta: x.meta(ctx),
	})
	made, ds := x.keep(ctx, call, q, prior)
	if made == cty.NilVal {
		if call.id == "" || !call.inDoubt() {
			restore() // nothing was created: the old object still exists
		}
		ds = append(ds, call.returned(ctx, ds[len(call.ds):])...)
	} else {
		at.made(made)
	}
	at.end(ds.HasErrors())
	return made, ds
}

// plannedIdentity returns the identity to send with an apply. If the plan of an update has none, it is the
// prior object's: a provider whose update does not set the identity takes it from there.
func (x *object) plannedIdentity(q *session.Question) cty.Value {
	if q.PlannedIdentity == cty.NilVal && !marks.Plain(q.Prior).IsNull() {
		return q.Identity
	}
	return q.PlannedIdentity
}

// keep records the result of a creation or an update. A new object with provisioners is tainted until they
// have finished, so that a plan after a crash replaces it. keep returns the new value, or cty.NilVal if there
// is none.
//
// A creation that failed but returned an object leaves a tainted object: nobody knows how much of it exists,
// so the next plan replaces it. An update that failed does not change the status: the object is still
// complete, and the next plan compares it with the configuration.
func (x *object) keep(ctx context.Context, call *call, q *session.Question, prior *states.Object) (cty.Value, diags.Diagnostics) {
	plainPrior := marks.Plain(q.Prior)
	planned, sensitive := sensitivePaths(q.Planned)
	verb, status, was := plans.Create, states.Ready, states.Identity{}
	if prior != nil {
		verb, status, was = plans.Update, prior.Status, prior.Identity
	}
	failed := call.ds.HasErrors()
	v, more := x.newState(call.resp, verb, planned, plainPrior, failed)
	ds := slices.Concat(call.ds, more)
	if v.IsNull() {
		x.a.failures.notCreated(x.c.Addr.Instance.AbsResource())
		return cty.NilVal, ds
	}
	identity, more := session.NewIdentity(call.resp.Identity, x.rs, x.c.Addr, was)
	ds = append(ds, more...)
	failed = ds.HasErrors()
	provisioned := !failed && verb == plans.Create && len(x.ofCreation()) > 0
	if verb == plans.Create && (failed || provisioned) {
		status = states.Tainted
	}
	marked := session.MarkSensitive(v, x.rs, sensitive)
	ds = append(ds, x.store(marked, status, identity, call.resp.Private)...)
	ds = append(ds, call.returned(ctx, ds[len(call.ds):])...)
	if !provisioned || ds.HasErrors() {
		return marked, ds
	}
	if ds = append(ds, x.afterCreation(marked)...); !ds.HasErrors() {
		ds = append(ds, x.store(marked, states.Ready, identity, call.resp.Private)...)
	}
	return marked, ds
}

// depose turns the current object into a deposed one, if it is to be deleted only after its successor is
// created. The returned function undoes that.
//
// The state has one current object for an instance. The old object must leave this place before the call, not
// after it: the new object is recorded there as soon as the provider answers, and a crash in between must
// find both.
func (x *object) depose() (restore func()) {
	if x.c.Action != plans.CreateThenDelete {
		return func() {}
	}
	old := x.a.record.object(x.c.Addr)
	if old == nil {
		return func() {}
	}
	key := newDeposedKey()
	deposed := addrs.ResourceInstanceObject{Instance: x.c.Addr.Instance, Deposed: key}
	x.a.record.move(old, x.c.Provider, x.c.Addr, deposed)
	x.a.mu.Lock()
	defer x.a.mu.Unlock()
	x.a.deposedAs[x.c] = key
	return func() {
		x.a.record.move(old, x.c.Provider, deposed, x.c.Addr)
	}
}

// newDeposedKey returns a random key for a deposed object: eight hexadecimal digits.
//
// Source: Terraform's states.NewDeposedKey
func newDeposedKey() addrs.DeposedKey {
	var b [4]byte
	rand.Read(b[:])
	return addrs.DeposedKey(hex.EncodeToString(b[:]))
}
