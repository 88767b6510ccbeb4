package applying

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/zclconf/go-cty/cty"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/config"
	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/engine/events"
	"github.com/lockstep-iac/lockstep/engine/internal/session"
	"github.com/lockstep-iac/lockstep/engine/journaling"
	"github.com/lockstep-iac/lockstep/engine/marks"
	"github.com/lockstep-iac/lockstep/engine/plans"
	"github.com/lockstep-iac/lockstep/engine/refs"
	"github.com/lockstep-iac/lockstep/engine/schema"
	"github.com/lockstep-iac/lockstep/engine/states"
)

/*
# Actions

An action of a trigger belongs to the step of the object that triggers it. Before the change it can keep the change from
happening; after it, the dependents of the object wait for it, and are skipped if it fails. The actions of one moment are
invoked one after the other. The first that fails ends the list, unless its trigger says continue.

An action is an effect that nothing can look at afterwards. So it has an intent and an outcome in the journal, as a creation
has; and if its end is unknown, it is not invoked again until a person has decided.

The actions after a change are listed with the object, in the state, from the moment that the object is stored: they are
pending. Each leaves the list when it is completed. Whatever is left, after a failure or a crash, is invoked by the next plan.
An action after a destruction has no object to be listed with: its error says how to invoke it by hand.

The configuration of an action of a destruction is the plan's; all others are evaluated again, and may only fill the gaps of
the plan's.

Source: https://developer.hashicorp.com/terraform/language/block/resource#action_trigger
*/

// invocations returns the actions that the object's change invokes at some events: the events for which the
// function at returns true. For a deposed object it returns none.
func (x *object) invocations(at func(config.Event) bool) []*plans.Invocation {
	if x.c.Addr.Deposed != addrs.NotDeposed || len(x.a.in.Plan.Invocations) == 0 {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(x.a.invocations[x.c.Addr.Instance]), func(inv *plans.Invocation) bool { return !at(inv.Event) })
}

// invocationsOfMaking returns the actions to invoke before the object is created or updated, or after it if
// before is false. The actions to invoke afterwards include the pending ones of an earlier apply.
func (x *object) invocationsOfMaking(before bool) []*plans.Invocation {
	return x.invocations(func(e config.Event) bool { return !e.Destroys() && e.Before() == before })
}

// hasInvocations reports whether the change invokes actions when it deletes the object. If deletes is false,
// it reports whether the change invokes actions when it makes or verifies the object.
func (x *object) hasInvocations(deletes bool) bool {
	return len(x.invocations(func(e config.Event) bool { return e.Destroys() == deletes })) > 0
}

// owed returns the actions that are to be invoked after the object is created or updated. The state stores them
// with the object as pending until they are finished.
func (x *object) owed() []states.PendingAction {
	var out []states.PendingAction
	for _, inv := range x.invocationsOfMaking(false) {
		out = append(out, pendingOf(inv))
	}
	return out
}

func pendingOf(inv *plans.Invocation) states.PendingAction {
	return states.PendingAction{Action: inv.Addr.Resource.String(), Event: string(inv.Event)}
}

// settle removes a finished action from the object's pending actions.
func (x *object) settle(inv *plans.Invocation) {
	o := x.a.record.object(x.c.Addr)
	if o == nil || inv.Event.Before() || inv.Event.Destroys() {
		return
	}
	list := o.PendingActions()
	if i := slices.Index(list, pendingOf(inv)); i >= 0 {
		x.a.record.set(x.c.Addr, x.c.Provider, o.WithPendingActions(slices.Delete(list, i, i+1)))
	}
}

// taint marks the object as tainted, so that the next plan replaces it. It also removes the object's pending
// actions.
func (x *object) taint() {
	if o := x.a.record.object(x.c.Addr); o != nil {
		tainted := *o.WithPendingActions(nil)
		tainted.Status = states.Tainted
		x.a.record.set(x.c.Addr, x.c.Provider, &tainted)
	}
}

// beforeMaking invokes the actions before a creation or an update, whose planned value is v.
func (x *object) beforeMaking(ctx context.Context, v cty.Value) diags.Diagnostics {
	list := x.invocationsOfMaking(true)
	_, ds := x.a.invokeAll(ctx, x, list, v)
	if ds.HasErrors() || len(list) == 0 {
		return ds
	}
	return append(ds, x.a.stopped(1, "%s was not changed", x.c.Addr)...)
}

// afterMaking invokes the actions after a creation or an update. For an object that does not change, it
// invokes the pending actions of the object. v is the value of the object.
func (x *object) afterMaking(ctx context.Context, v cty.Value) diags.Diagnostics {
	taints, ds := x.a.invokeAll(ctx, x, x.invocationsOfMaking(false), v)
	if taints {
		x.taint()
	}
	return ds
}

// afterRecorded calls [object.afterMaking] with the object's value in the state. It does nothing if the state
// has no such object.
func (x *object) afterRecorded(ctx context.Context) diags.Diagnostics {
	o := x.a.record.object(x.c.Addr)
	if o == nil || len(x.invocationsOfMaking(false)) == 0 {
		return nil
	}
	v, ds := x.a.s.Stored(x.c.Addr.Instance, x.rs, o)
	if ds.HasErrors() {
		return ds
	}
	return append(ds, x.afterMaking(ctx, v)...)
}

// beforeDestroying and afterDestroying invoke the actions before and after the destruction of the object.
func (x *object) beforeDestroying(ctx context.Context) diags.Diagnostics {
	list := x.invocations(func(e config.Event) bool { return e == config.BeforeDestroy })
	_, ds := x.a.invokeAll(ctx, x, list, cty.NilVal)
	if ds.HasErrors() || len(list) == 0 {
		return ds
	}
	return append(ds, x.a.stopped(1, "%s was not destroyed", x.c.Addr)...)
}

func (x *object) afterDestroying(ctx context.Context) diags.Diagnostics {
	_, ds := x.a.invokeAll(ctx, x, x.invocations(func(e config.Event) bool { return e == config.AfterDestroy }), cty.NilVal)
	return ds
}

// invokeRequested invokes the actions of the option -invoke, and adds their diagnostics to the report.
func (a *applier) invokeRequested(ctx context.Context) {
	list := slices.DeleteFunc(slices.Clone(a.in.Plan.Invocations), func(inv *plans.Invocation) bool { return inv.Event != "" })
	for i, inv := range list {
		if ds := a.stopped(len(list)-i, "%s was not invoked", inv.Addr); ds.HasErrors() {
			a.report.add(ds)
			return
		}
		caller, ds := a.callerOf(context.WithoutCancel(ctx), inv)
		if ds.HasErrors() {
			return // they are in the report
		}
		_, ds = a.invokeAll(ctx, nil, list[i:i+1], caller)
		if a.report.add(ds); ds.HasErrors() {
			return
		}
	}
}

// callerOf returns the value of the resource instance that an action of the option -invoke is invoked for.
func (a *applier) callerOf(ctx context.Context, inv *plans.Invocation) (cty.Value, diags.Diagnostics) {
	if inv.Caller == (addrs.AbsResourceInstance{}) {
		return cty.NilVal, nil
	}
	b, ds := a.values.open(ctx, inv.Caller.AbsResource())
	if ds.HasErrors() {
		return cty.NilVal, ds
	}
	return b.value(ctx, inv.Caller.Resource.Key)
}

// invokeAll invokes actions one after the other, until one fails. taints reports whether the failed action
// taints the object. x is nil for the actions of the option -invoke.
func (a *applier) invokeAll(ctx context.Context, x *object, list []*plans.Invocation, caller cty.Value) (taints bool, ds diags.Diagnostics) {
	for i, inv := range list {
		if more := a.stopped(len(list)-i, "%s was not invoked", inv.Addr); more.HasErrors() {
			return false, append(ds, more...)
		}
		more, final := a.invoke(ctx, x, inv, caller)
		if a.continues(inv) && !final {
			more = warnings(more)
		}
		if ds = append(ds, more...); more.HasErrors() {
			return inv.OnFailure == config.Taint && inv.Event == config.AfterCreate && !final, ds
		}
	}
	return false, ds
}

// stopped returns an error if the apply has been interrupted during a step; otherwise it returns nil. It
// counts the n remaining effects of the step as not begun. what and args are the format of a text about these
// effects.
func (a *applier) stopped(n int, what string, args ...any) diags.Diagnostics {
	if a.ctx.Err() == nil {
		return nil
	}
	a.unbegun.Add(int64(n))
	return diags.Errorf(nil, "Apply was interrupted", "%s: %s. What has been done is in the state; plan again to see what remains.", fmt.Sprintf(what, args...), context.Cause(a.ctx))
}

// continues reports whether a failure of the action is only a warning. In a plan that destroys everything,
// failures of destroy-time actions are warnings, so that they cannot keep the destroy from finishing.
// Source: Terraform 1.16.
func (a *applier) continues(inv *plans.Invocation) bool {
	return inv.OnFailure == config.Continue || inv.Event.Destroys() && a.in.Plan.Mode == plans.DestroyMode
}

// warnings turns errors into warnings. It leaves out diagnostics that only stand for others reported
// elsewhere: see [diags.Reported].
func warnings(ds diags.Diagnostics) diags.Diagnostics {
	out := slices.Clone(ds.Unreported())
	for i := range out {
		out[i].Severity = diags.Warning
	}
	return out
}

// invoke invokes an action, unless its condition is false or an earlier process has invoked the action. final
// is true if the journal could not be written. No further action may begin then.
func (a *applier) invoke(ctx context.Context, x *object, inv *plans.Invocation, caller cty.Value) (ds diags.Diagnostics, final bool) {
	if call, begun := a.in.Progress.Invocation(inv); begun {
		return a.invokedBefore(inv, call), false
	}
	holds, ds := a.holds(x, inv, caller)
	if ds.HasErrors() {
		return ds, false
	}
	if !holds {
		x.settle(inv)
		return ds, false
	}
	open, v, more := a.openAction(ctx, inv, caller)
	if ds = append(ds, more...); ds.HasErrors() {
		return ds, false
	}
	// A call under way is never cut off by a stop: its effect would not be known.
	ctx = context.WithoutCancel(ctx)
	id, err := a.in.Journal.Intent(ctx, journaling.InvocationIntent(inv))
	if err != nil {
		return append(ds, unjournaled(a.record.stop, err)...), true
	}
	tell := a.invocationEvents(inv, v, open.Schema)
	tell(events.InvokeStart, "")
	resp, answer := open.Client.InvokeAction(ctx, inv.Addr.Resource.Resource.Type, marks.Plain(v), func(message string) { tell(events.InvokeProgress, message) })
	answer = a.s.PlaceAction(answer, open, inv.Caller)
	problem := problemOf(answer)
	if problem == "" {
		tell(events.InvokeDone, "")
	} else {
		tell(events.InvokeFailed, problem)
		answer = append(answer, a.byHand(inv)...)
	}
	ds = append(ds, answer...)
	if resp.Unanswered {
		return ds, false // the intent stays open
	}
	if x != nil && (problem == "" || a.continues(inv)) {
		x.settle(inv)
	}
	if err := a.in.Journal.Outcome(ctx, id, problem); err != nil {
		return append(ds, unjournaled(a.record.stop, err)...), true
	}
	return ds, false
}

// byHand returns a warning that says how to invoke a failed action by hand, if no later plan will invoke the
// action. It is shown together with the error of the action.
func (a *applier) byHand(inv *plans.Invocation) diags.Diagnostics {
	if inv.Event != config.AfterDestroy || a.continues(inv) {
		return nil
	}
	return diags.Warningf(nil, "Action is not invoked again",
		"%s failed after the destruction of %s. The object is gone, so no later plan invokes the action. To invoke it yourself, run:\n  lockstep apply -invoke='%s'", inv.Addr, inv.Caller, strings.ReplaceAll(inv.Addr.String(), "'", `'\''`))
}

// invokedBefore returns again the diagnostics of an action that an earlier process has invoked.
func (a *applier) invokedBefore(inv *plans.Invocation, call journaling.Call) diags.Diagnostics {
	at := inv.Addr.String()
	switch {
	case call.Open:
		return diags.Errorf(nil, "Action may have been invoked",
			"An earlier process of this apply began to invoke %s at %s, and did not record its end. Nobody knows how much of it was done. Lockstep does not invoke it again until you decide: run \"lockstep recover\".", inv.Addr, call.Started.Format(time.RFC3339)).At(at)
	case call.Failed:
		return diags.Errorf(nil, "Action failed before the apply was stopped", "%s", call.Problem).At(at)
	}
	return nil
}

// holds reports whether an action is to be invoked: whether the condition of its trigger is true. A trigger
// without a condition always invokes its actions.
func (a *applier) holds(x *object, inv *plans.Invocation, caller cty.Value) (bool, diags.Diagnostics) {
	if x == nil || x.r == nil || inv.Event.Destroys() || inv.Trigger >= len(x.r.Triggers) || x.r.Triggers[inv.Trigger].Condition == nil {
		return true, nil
	}
	scope, ds := a.values.scope(inv.Caller, x.r)
	if ds.HasErrors() {
		return false, ds
	}
	scope.Self = caller
	trigger := x.r.Triggers[inv.Trigger]
	verdict := a.s.TriggerHolds(trigger, scope)
	if ds = append(ds, verdict.Diags...); ds.HasErrors() {
		return false, ds.At(x.address())
	}
	if !verdict.Known {
		return false, append(ds, diags.Errorf(trigger.Condition.Range().Ptr(), "Condition of an action trigger is unknown",
			"Whether %s is invoked depends on a value that is not known before %s is created. Refer to values that are, or use an event after the creation.", inv.Addr, inv.Caller).At(x.address())...)
	}
	return verdict.Holds, ds
}

// openAction returns an action with its provider, and the value of its configuration. A configuration that is
// not completely known is an error by now.
func (a *applier) openAction(ctx context.Context, inv *plans.Invocation, caller cty.Value) (*session.Invocation, cty.Value, diags.Diagnostics) {
	if inv.Event.Destroys() {
		open, ds := a.s.PlannedAction(ctx, inv.Addr, inv.Provider)
		return open, inv.Config, ds
	}
	open, ds := a.s.OpenAction(ctx, inv.Addr, caller, nil)
	if ds.HasErrors() {
		return nil, cty.NilVal, ds
	}
	v, more := a.s.ActionConfig(open)
	if ds = append(ds, a.s.PlaceAction(more, open, inv.Caller)...); ds.HasErrors() {
		return nil, cty.NilVal, ds
	}
	plain := marks.Plain(v)
	if !plain.IsWhollyKnown() {
		return nil, cty.NilVal, append(ds, a.s.PlaceAction(diags.Errorf(open.Block.Range.Ptr(), "Action configuration unknown during apply",
			"%s depends on a value that is not known when it is invoked. Before a creation, the object that triggers the action has no computed attributes yet: do not refer to them, or use the event after_create.", inv.Addr), open, inv.Caller)...)
	}
	for _, err := range schema.AssertObjectCompatible(open.Schema.Block, marks.Plain(inv.Config), open.Schema.Block.WithoutWriteOnly(plain)) {
		ds = append(ds, a.s.PlaceAction(diags.Errorf(open.Block.Range.Ptr(), "Action configuration differs from the plan",
			"By now %s has another configuration than the approved one: %s. It was not invoked. Plan again.", inv.Addr, session.Describe(err)), open, inv.Caller)...)
	}
	return open, v, ds
}

// invocationEvents returns a function that sends events about an action to listeners. Messages of the
// provider may repeat values of the action's configuration. So if the configuration has a sensitive or
// ephemeral value, these messages are not shown.
func (a *applier) invocationEvents(inv *plans.Invocation, config cty.Value, rs *schema.Schema) func(events.Kind, string) {
	hidden, start := "", time.Now()
	switch {
	case marks.Contains(config, marks.Ephemeral):
		hidden = "(message suppressed due to ephemeral value in config)"
	case marks.Contains(config, marks.Sensitive) || hasSecret(marks.Plain(config), rs):
		hidden = "(message suppressed due to sensitive value in config)"
	}
	return func(kind events.Kind, text string) {
		if text != "" && kind == events.InvokeProgress && hidden != "" {
			text = hidden
		}
		a.in.Events.Send(events.Event{
			Kind: kind, Addr: addrs.ResourceInstanceObject{Instance: inv.Caller}, Invocation: inv, Text: strings.TrimSpace(text), Elapsed: time.Since(start),
		})
	}
}

// hasSecret reports whether a value without marks has a part that its schema declares sensitive.
func hasSecret(v cty.Value, rs *schema.Schema) bool {
	return slices.ContainsFunc(rs.Block.SensitivePaths(v), func(p cty.Path) bool {
		part, err := p.Apply(v)
		return err != nil || !part.IsNull()
	})
}

// namedByOwnActions returns the resources that trigger an action whose configuration refers to the same
// resource: see [values.open].
func namedByOwnActions(p *plans.Plan, cfg *config.Config, rs *refs.Refs) map[addrs.AbsResource]bool {
	out := map[addrs.AbsResource]bool{}
	for _, inv := range p.Invocations {
		m := cfg.Modules[inv.Addr.Module.Module()]
		if inv.Caller == (addrs.AbsResourceInstance{}) || m == nil || m.Actions[inv.Addr.Resource.Resource] == nil {
			continue
		}
		for _, ref := range rs.OfBlock(m.Actions[inv.Addr.Resource.Resource]) {
			if ref.Object.Kind == addrs.KindResource && ref.Object.Res == inv.Caller.Resource.Resource {
				out[inv.Caller.AbsResource()] = true
			}
		}
	}
	return out
}
