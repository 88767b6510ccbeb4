package applying

import (
	"cmp"
	"context"
	"time"

	"github.com/zclconf/go-cty/cty"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/engine/internal/order"
	"github.com/lockstep-iac/lockstep/engine/internal/session"
	"github.com/lockstep-iac/lockstep/engine/journaling"
	"github.com/lockstep-iac/lockstep/engine/plans"
	"github.com/lockstep-iac/lockstep/engine/provider"
	"github.com/lockstep-iac/lockstep/engine/states"
)

/*
# Resuming

An apply that continues the work of another process takes all steps in the same order, with the state that the
other process had. A step that has succeeded is not repeated: only its conditions are evaluated again, from
the same values, because the journal does not have their results. A step that has failed stays failed, and so
do the steps that depend on it: trying again needs a new plan. A step that did not call its provider begins
from its start.

A call without outcome is in doubt. After an update or a deletion, the object is read: it is as before, or as
planned, or something between, and the step continues from there. A creation has no object to read: its step
fails until a person has settled it.

Provider configurations and ephemeral resources belong to a process. They are opened again when first needed.
*/

// A fate says what earlier processes have done in a step.
type fate int

const (
	notBegun fate = iota
	done
	failed
	inDoubt       // a creation whose outcome is unknown
	interrupted   // an update or a deletion whose outcome is unknown
	unprovisioned // a creation whose provisioners have not finished
)

// fateOf returns what earlier processes have done in a step, and the provider call that they made.
func (a *applier) fateOf(step order.Step, c *plans.ResourceChange) (fate, journaling.Call) {
	p := a.in.Progress
	if p == nil {
		return notBegun, journaling.Call{}
	}
	object, action := c.Addr, plans.NoOp
	switch step.Verb {
	case order.Create:
		action = plans.Create
	case order.Update:
		action = plans.Update
	case order.Delete:
		action = plans.Delete
		if c.Action == plans.CreateThenDelete {
			object.Deposed, _ = p.Deposed(c.Addr.Instance)
		}
		if c.KeepsOld { // The change keeps the real object, so it only edits the state. The edit of a deposed object can be repeated.
			if object.Deposed == addrs.NotDeposed && p.Edited(object) {
				return done, journaling.Call{}
			}
			return notBegun, journaling.Call{}
		}
	case order.Read, order.Forget:
		if p.Edited(object) {
			return done, journaling.Call{}
		}
		return notBegun, journaling.Call{}
	}
	call, begun := p.Call(object, action)
	switch {
	case !begun:
		return notBegun, call
	case call.Failed:
		return failed, call
	case call.Open && action == plans.Create:
		return a.found(c), call
	case call.Open:
		return interrupted, call
	case step.Verb == order.Create && a.unprovisioned(c):
		return unprovisioned, call
	}
	return done, call
}

// found returns the fate of a creation whose outcome is unknown. Its object may still be in the state,
// because the journal may store edits with the record of another step. Then the provider's answer is known,
// and only the outcome record is missing. An object that is tainted but has no provisioners was created
// partly, with an error.
func (a *applier) found(c *plans.ResourceChange) fate {
	switch o := a.record.object(c.Addr); {
	case o == nil:
		return inDoubt
	case a.unprovisioned(c):
		return unprovisioned
	case o.Status == states.Tainted:
		return failed
	}
	return done
}

// unprovisioned reports whether the provisioners of a new object have not finished.
func (a *applier) unprovisioned(c *plans.ResourceChange) bool {
	x := a.of(c)
	o := a.record.object(c.Addr)
	return x.r != nil && len(x.ofCreation()) > 0 && o != nil && o.Status == states.Tainted
}

// replaced restores the deposed key of an object that an earlier process has replaced. The key comes from the
// intent of the creation: it was chosen at random, and the state has the object under this key.
func (a *applier) replaced(c *plans.ResourceChange) {
	if key, ok := a.in.Progress.Deposed(c.Addr.Instance); ok && c.Action == plans.CreateThenDelete {
		a.mu.Lock()
		a.deposedAs[c] = key
		a.mu.Unlock()
	}
}

// failedBefore returns the error of a step that failed in an earlier process. It also records the results of
// the step's conditions.
func (x *object) failedBefore(earlier fate, call journaling.Call) diags.Diagnostics {
	const summary = "Failed before the apply was stopped"
	var ds diags.Diagnostics
	switch earlier {
	case inDoubt:
		ds = diags.Errorf(nil, "Not known to be created",
			"An earlier process of this apply began the creation of %s at %s, and did not record its end. Until a person has found out whether the object exists, neither it nor anything that depends on it is changed.",
			x.c.Addr, call.Started.Format(time.RFC3339))
	case unprovisioned:
		ds = diags.Errorf(nil, summary, "The provisioners of %s did not finish. It is tainted: a new plan replaces it.", x.c.Addr)
	default:
		ds = diags.Errorf(nil, summary, "%s", cmp.Or(call.Problem, "The provider has created the object in part, and its error was not recorded."))
	}
	ds = ds.At(x.address())
	if x.r == nil {
		return ds
	}
	if x.a.record.object(x.c.Addr) == nil {
		x.a.failures.notCreated(x.c.Addr.Instance.AbsResource())
		if x.a.record.object(x.current()) == nil {
			x.lost()
		}
	}
	scope, more := x.a.values.scope(x.c.Addr.Instance, x.r)
	if ds = append(ds, more...); more.HasErrors() {
		return ds
	}
	ds = append(ds, x.conditions(x.r.Preconditions, scope, "Resource precondition failed")...)
	return append(ds, x.postconditions(cty.NilVal, scope)...)
}

// look reads an object whose call has an intent but no outcome, and records the provider's answer. It returns
// nil if the object is gone.
func (x *object) look(ctx context.Context, addr addrs.ResourceInstanceObject, o *states.Object) (*states.Object, diags.Diagnostics) {
	is, ds := x.readObject(ctx, addr, o)
	if !ds.HasErrors() {
		x.a.record.set(addr, x.c.Provider, is)
	}
	return is, ds
}

// readObject reads an object of the state with its provider; nil if the object is gone. The result keeps the
// marks of the stored value, since the configuration, which has further sensitive paths, may not be evaluated
// yet. An invalid answer is an error: acting on an object that cannot be read would be guessing.
func (x *object) readObject(ctx context.Context, addr addrs.ResourceInstanceObject, o *states.Object) (*states.Object, diags.Diagnostics) {
	was, ds := x.a.s.Stored(addr.Instance, x.rs, o)
	if ds.HasErrors() {
		return nil, ds
	}
	plain, sensitive := sensitivePaths(was)
	resp, more := x.client.Read(provider.WithInstance(ctx, addr.Instance), provider.ReadRequest{TypeName: addr.Instance.Resource.Resource.Type, Prior: plain, Identity: x.a.s.StoredIdentity(x.rs, o), Private: o.Private, Meta: x.meta(ctx)})
	if ds = append(ds, x.a.s.Place(more, x.r, x.rs, x.address())...); ds.HasErrors() {
		return nil, ds
	}
	if resp.New.IsNull() {
		return nil, ds
	}
	if errs := resp.New.Type().TestConformance(x.rs.Block.ImpliedType()); len(errs) > 0 || !resp.New.IsWhollyKnown() {
		return nil, append(ds, diags.Errorf(nil, "Provider produced invalid object",
			"Provider %q returned an invalid value for %s when it was read.\n\nThis is a bug in the provider, which should be reported in the provider's own issue tracker.", x.c.Provider.Provider, addr)...)
	}
	identity, more := session.NewIdentity(resp.Identity, x.rs, addr, o.Identity)
	if ds = append(ds, more...); more.HasErrors() {
		return nil, ds
	}
	is, err := session.Encode(session.MarkSensitive(resp.New, x.rs, sensitive), x.rs, session.Encoding{
		Status: o.Status, Identity: identity, Private: resp.Private, Dependencies: o.Dependencies, CreateBeforeDestroy: o.CreateBeforeDestroy, SkipDestroy: o.SkipDestroy,
	})
	if err != nil {
		return nil, append(ds, diags.FromError("Object cannot be saved", err)...)
	}
	return is, ds
}
