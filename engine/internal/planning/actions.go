package planning

import (
	"context"
	"slices"
	"sync"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/config"
	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/engine/eval"
	"github.com/lockstep-iac/lockstep/engine/internal/session"
	"github.com/lockstep-iac/lockstep/engine/marks"
	"github.com/lockstep-iac/lockstep/engine/plans"
	"github.com/lockstep-iac/lockstep/engine/states"
	"github.com/lockstep-iac/lockstep/engine/walk"
)

// Actions are planned after the walk, when every resource has its planned value: then an action may refer to any of them,
// also to the one that triggers it. Which actions a change triggers is decided by firings, without values.
//
// An action that an earlier apply was to invoke after a change, and did not complete, is pending. The object in the state has
// a list of those (see [states.PendingAction]). They are planned again, whatever happens to the object now: Terraform 1.16
// forgets them.

// A firing is an action that a change triggers.
type firing struct {
	trigger, index int // of the action_trigger block, and of the action in it
	event          config.Event
}

// brings reports whether a change of kind a causes the event e. For example, an update causes BeforeUpdate and
// AfterUpdate. keepsOld is set if a replacement does not destroy the old object.
func brings(a plans.Action, e config.Event, keepsOld bool) bool {
	switch e {
	case config.BeforeCreate, config.AfterCreate:
		return a == plans.Create || a.IsReplace()
	case config.BeforeUpdate, config.AfterUpdate:
		return a == plans.Update
	}
	return a == plans.Delete || a.IsReplace() && !keepsOld
}

// firings returns the actions that a change of a resource instance triggers, in the order of the configuration:
// by trigger block, then by event, then by action. See [brings] for keepsOld.
func firings(triggers []*config.Trigger, a plans.Action, keepsOld bool) []firing {
	var out []firing
	for i, t := range triggers {
		for _, e := range t.Events {
			if !brings(a, e, keepsOld) {
				continue
			}
			for j := range t.Actions {
				out = append(out, firing{i, j, e})
			}
		}
	}
	return out
}

// pendingFirings returns the actions that may still be pending after an earlier change of the object. It
// returns only actions for events after a creation or an update, and not those that the planned change
// triggers anyway. If the object is replaced or goes away, it returns none: its pending actions are dropped.
func pendingFirings(triggers []*config.Trigger, a plans.Action) []firing {
	if a != plans.NoOp && a != plans.Update {
		return nil
	}
	var out []firing
	for i, t := range triggers {
		for _, e := range t.Events {
			if e.Before() || e.Destroys() || brings(a, e, false) {
				continue
			}
			for j := range t.Actions {
				out = append(out, firing{i, j, e})
			}
		}
	}
	return out
}

// An invoking is an invocation that is being planned.
type invoking struct {
	*plans.Invocation
	trigger *config.Trigger // nil for the option -invoke
	caller  cty.Value       // cty.NilVal: none
	place   *hcl.Range      // of the entry that names the action
}

// owed returns the entry in the state for the action while it is pending.
func (x *invoking) owed() states.PendingAction {
	return states.PendingAction{Action: x.Addr.Resource.String(), Event: string(x.Event)}
}

// invocations plans the actions of a plan.
func (p *planner) invocations(ctx context.Context) {
	var list []*invoking
	if p.in.Invoke != (addrs.AbsResourceInstance{}) {
		list = p.invoked(ctx)
	} else if p.in.Mode != plans.RefreshOnlyMode {
		list = p.triggered()
	}
	var mu sync.Mutex
	graph := walk.Graph{N: len(list), After: make([][]int32, len(list))}
	results := walk.Run(ctx, p.in.Calls(), graph, func(ctx context.Context, i int) error {
		ds := p.invocation(ctx, list[i])
		p.reportAction(ds)
		if !ds.HasErrors() {
			mu.Lock()
			defer mu.Unlock()
			p.planned = append(p.planned, list[i].Invocation)
		}
		return nil
	})
	for _, err := range results {
		if err != nil {
			p.report(diags.Errorf(nil, "Planning was interrupted", "Nothing has been changed: %s.", err))
			break
		}
	}
	slices.SortFunc(p.planned, (*plans.Invocation).Compare)
}

// reportAction is [planner.report] for diagnostics about actions. A plan that destroys everything keeps only
// the diagnostics of its second part, the deletions. Those about actions belong to this part.
func (p *planner) reportAction(ds diags.Diagnostics) {
	p.report(ds)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.ofActions = append(p.ofActions, ds.Unreported()...)
}

// triggered returns the actions that changes trigger. Those whose condition does not hold are left out.
func (p *planner) triggered() []*invoking {
	var out []*invoking
	scopes := map[addrs.AbsResource]map[addrs.InstanceKey]*eval.Instance{}
	changes, _ := p.changes.Sorted()
	for _, c := range changes {
		m := p.in.Config.Modules[c.Addr.Instance.Module.Module()]
		if c.Addr.Deposed != addrs.NotDeposed || m == nil || m.Resources[c.Addr.Instance.Resource.Resource] == nil {
			continue
		}
		t := triggering{p: p, c: c, m: m, r: m.Resources[c.Addr.Instance.Resource.Resource]}
		if len(t.r.Triggers) == 0 && len(p.prior.Object(c.Addr).PendingActions()) == 0 {
			continue
		}
		if !p.moduleExists(c.Addr.Instance.Module) {
			if len(firings(t.r.Triggers, c.Action, c.KeepsOld)) > 0 {
				p.reportAction(diags.Warningf(t.r.Triggers[0].Range.Ptr(), "Actions are not invoked",
					"%s is destroyed without its actions: they are evaluated in %s, which is no longer in the configuration. To invoke them, restore it, and first destroy the objects in it with -destroy and -target.",
					c.Addr.Instance, c.Addr.Instance.Module).At(c.Addr.Instance.String()))
			}
			continue
		}
		abs := c.Addr.Instance.AbsResource()
		if scopes[abs] == nil {
			scopes[abs] = map[addrs.InstanceKey]*eval.Instance{}
			instances, _ := p.s.Eval.ResourceInstances(abs.Module, t.r) // whose errors the visit has reported
			for i := range instances {
				scopes[abs][instances[i].Key] = &instances[i]
			}
		}
		t.scope = eval.Scope{Module: abs.Module, Instance: scopes[abs][c.Addr.Instance.Resource.Key]}
		if t.scope.Instance == nil { // it is not declared any more, and each.value is gone
			t.scope.Instance = session.Undeclared(c.Addr.Instance.Resource.Key)
		}
		out = append(out, t.all()...)
	}
	return out
}

// A triggering is a change of a resource instance with triggers.
type triggering struct {
	p     *planner
	c     *plans.ResourceChange
	m     *config.Module
	r     *config.Resource
	scope eval.Scope
}

// all returns the actions that the change triggers. It also returns pending actions, which an earlier apply
// triggered and did not complete. It leaves out a pending action if its trigger no longer exists, or if its
// condition is false now.
func (t *triggering) all() []*invoking {
	var out []*invoking
	for _, f := range firings(t.r.Triggers, t.c.Action, t.c.KeepsOld) {
		if x := t.invoking(f); x != nil {
			out = append(out, x)
		}
	}
	pending := t.p.prior.Object(t.c.Addr).PendingActions()
	if len(pending) == 0 {
		return out
	}
	var again []*invoking
	for _, f := range slices.Backward(pendingFirings(t.r.Triggers, t.c.Action)) {
		x := t.invoking(f)
		if x == nil {
			continue
		}
		// An action may be listed twice. The earlier apply invoked actions in the order of the list, so the
		// last entries are the pending ones.
		if i := slices.Index(pending, x.owed()); i >= 0 {
			pending = slices.Delete(pending, i, i+1)
			x.Pending, again = true, append(again, x)
		}
	}
	slices.Reverse(again)
	var kept []states.PendingAction
	for _, x := range again {
		kept = append(kept, x.owed())
	}
	out = append(out, again...)
	if t.c.Action == plans.NoOp {
		t.p.prior.SetObject(t.c.Addr, t.c.Provider, t.p.prior.Object(t.c.Addr).WithPendingActions(kept))
	}
	return out
}

// invoking returns the invocation of a firing; nil if its condition is false. It also returns nil after
// errors, which it reports.
func (t *triggering) invoking(f firing) *invoking {
	trigger, caller, c := t.r.Triggers[f.trigger], t.c.Addr.Instance, t.c.Decoded()
	value := c.After
	if f.event.Destroys() {
		value = c.Before
	}
	if t.c.Schema != nil {
		value = t.c.Schema.Block.Referred(value)
	}
	scope := t.scope
	scope.Self = value
	verdict := t.p.s.TriggerHolds(trigger, scope)
	t.p.reportAction(verdict.Diags.At(caller.String()))
	if verdict.Diags.HasErrors() || verdict.Known && !verdict.Holds {
		return nil
	}
	entry := trigger.Actions[f.index]
	action, ds := session.ActionInstance(t.m, entry, t.scope)
	t.p.reportAction(ds.At(caller.String()))
	if ds.HasErrors() {
		return nil
	}
	return &invoking{
		Invocation: &plans.Invocation{
			Addr: addrs.AbsResourceInstance{Module: caller.Module, Resource: action}, Caller: caller,
			Event: f.event, Trigger: f.trigger, Index: f.index, OnFailure: trigger.OnFailure,
		},
		trigger: trigger, caller: value, place: entry.Range().Ptr(),
	}
}

// invocation evaluates the configuration of an action, and asks the provider to plan the action.
//
// If the action is invoked by a destruction, its configuration must be known when planning. The apply does not
// evaluate it again: the objects that it refers to may be destroyed by then.
func (p *planner) invocation(ctx context.Context, x *invoking) diags.Diagnostics {
	open, ds := p.s.OpenAction(ctx, x.Addr, x.caller, x.place)
	if ds.HasErrors() {
		return ds
	}
	x.Provider, x.Schema = open.Config, open.Schema
	v, more := p.s.ActionConfig(open)
	if ds = append(ds, p.s.PlaceAction(more, open, x.Caller)...); ds.HasErrors() {
		return ds
	}
	if marks.Any(v) {
		if ds = append(ds, p.s.PlaceAction(open.Schema.Block.CheckEphemeral(v), open, x.Caller)...); ds.HasErrors() {
			return ds
		}
	}
	plain, sensitive := marks.Paths(v, marks.Sensitive)
	plain = marks.Plain(plain)
	x.Config = session.MarkSensitive(open.Schema.Block.WithoutWriteOnly(plain), open.Schema, sensitive)
	if ds = append(ds, p.s.PlaceAction(x.unfit(open, plain), open, x.Caller)...); ds.HasErrors() {
		return ds
	}
	answer := open.Client.PlanAction(ctx, x.Addr.Resource.Resource.Type, plain)
	return append(ds, p.s.PlaceAction(answer, open, x.Caller)...)
}

// unfit returns an error if the action can never be invoked, because its configuration is unknown or has
// ephemeral values. plain is the value of the configuration, without marks.
func (x *invoking) unfit(open *session.Invocation, plain cty.Value) diags.Diagnostics {
	at := open.Block.Range.Ptr()
	switch {
	case x.Event == "" && !plain.IsWhollyKnown():
		return diags.Errorf(at, "Partially applied configuration",
			"%s depends on objects that do not exist yet. Plan and apply the configuration first, then invoke the action.", x.Addr)
	case x.Event.Destroys() && !plain.IsWhollyKnown():
		return diags.Errorf(at, "Unknown action config",
			"%s is invoked by the destruction of %s, when values that are only known after the apply cannot be found out any more. Refer to values that are known when the plan is made.", x.Addr, x.Caller)
	case x.Event.Destroys() && !plain.RawEquals(marks.Plain(x.Config)):
		return diags.Errorf(at, "Action config contains ephemeral values",
			"%s is invoked by the destruction of %s with the values of the plan, which keeps no write-only arguments. Remove them from the action.", x.Addr, x.Caller)
	}
	return nil
}

// ofChanges returns the planned invocations, without those whose change is not part of the plan.
func (p *planner) ofChanges(changes []*plans.ResourceChange) []*plans.Invocation {
	if len(p.planned) == 0 {
		return nil
	}
	part := map[addrs.AbsResourceInstance]bool{}
	for _, c := range changes {
		part[c.Addr.Instance] = true
	}
	return slices.DeleteFunc(p.planned, func(x *plans.Invocation) bool { return x.Event != "" && !part[x.Caller] })
}
