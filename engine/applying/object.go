package applying

import (
	"context"
	"crypto/rand"
	"encoding/hex"

	"github.com/zclconf/go-cty/cty"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/config"
	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/engine/eval"
	"github.com/lockstep-iac/lockstep/engine/marks"
	"github.com/lockstep-iac/lockstep/engine/plans"
	"github.com/lockstep-iac/lockstep/engine/provider"
	"github.com/lockstep-iac/lockstep/engine/schema"
	"github.com/lockstep-iac/lockstep/engine/session"
	"github.com/lockstep-iac/lockstep/engine/states"
)

// object is the applying of one change.
type object struct {
	a      *applier
	c      *plans.ResourceChange
	r      *config.Resource // nil if the configuration has no such block
	cr     addrs.ConfigResource
	rs     *schema.Schema
	client provider.Client
}

// of returns a change with its block.
func (a *applier) of(c *plans.ResourceChange) *object {
	x := &object{a: a, c: c, cr: c.Addr.Instance.Config()}
	if m := a.in.Config.Modules[x.cr.Module]; m != nil {
		x.r = m.Resources[x.cr.Resource]
	}
	return x
}

// open gets together what a step needs.
func (a *applier) open(ctx context.Context, c *plans.ResourceChange) (*object, diags.Diagnostics) {
	x := a.of(c)
	if c.Action == plans.Forget {
		return x, nil
	}
	var ds, more diags.Diagnostics
	if x.rs, ds = a.schema(ctx, c, x.r); ds.HasErrors() {
		return nil, ds
	}
	x.client, more = a.s.Client(ctx, c.Provider)
	return x, append(ds, more...)
}

func (x *object) address() string { return x.c.Addr.Instance.String() }

// make creates or updates the object.
func (x *object) make(ctx context.Context) diags.Diagnostics {
	q, prior, scope, ds := x.prepare(ctx)
	if ds.HasErrors() {
		return ds
	}
	made, more := x.perform(ctx, q, prior)
	ds = append(ds, more...)
	ds = append(ds, x.postconditions(made, scope)...)
	if more.HasErrors() {
		x.a.report(x.a.save(ctx))
	}
	return ds
}

// postconditions checks what was made, also if that failed half-way. If nothing was, what
// there was before may still be there; else it is not known what those come to that mention
// it, or, as Terraform 1.11.4 has it for one of many instances, they cannot be evaluated.
func (x *object) postconditions(made cty.Value, scope eval.Scope) diags.Diagnostics {
	if len(x.r.Postconditions) == 0 {
		return nil
	}
	if scope.Self = made; made == cty.NilVal {
		var ds diags.Diagnostics
		if o := x.a.object(x.c.Addr); o == nil {
			scope.Self, scope.SelfGone = cty.DynamicVal, !x.c.Addr.Instance.Resource.Key.IsNone()
		} else if scope.Self, ds = x.a.s.Stored(x.c.Addr.Instance, x.rs, o); ds.HasErrors() {
			return ds
		}
	}
	return x.conditions(x.r.Postconditions, scope, "Resource postcondition failed")
}

// prepare evaluates the configuration and has the provider plan again.
func (x *object) prepare(ctx context.Context) (*session.Question, *states.Object, eval.Scope, diags.Diagnostics) {
	scope, ds := x.a.scope(x.c.Addr.Instance, x.r)
	if ds = append(ds, x.a.openNeeded(ctx, x.c.Addr.Instance.Config())...); ds.HasErrors() {
		return nil, nil, scope, ds
	}
	if ds = append(ds, x.conditions(x.r.Preconditions, scope, "Resource precondition failed")...); ds.HasErrors() {
		return nil, nil, scope, ds
	}
	config, more := x.a.s.ResourceConfig(x.r, x.rs, scope)
	if ds = append(ds, more...); ds.HasErrors() {
		return nil, nil, scope, ds
	}
	if !marks.Plain(config).IsWhollyKnown() {
		x.a.leaveNoHusk(x.c.Addr.Instance.AbsResource())
		remedy := "This is a bug in Lockstep: please report it."
		if x.a.in.Plan.Partial() {
			remedy = "Plan the whole configuration, or what is missing, too."
		}
		return nil, nil, scope, append(ds, diags.Errorf(x.r.Range.Ptr(), "Configuration contains unknown value",
			"The configuration of %s depends on what does not exist, and is not part of this plan. %s", x.c.Addr, remedy)...)
	}
	prior, value, more := x.prior()
	if ds = append(ds, more...); ds.HasErrors() {
		return nil, nil, scope, ds
	}
	q, more := x.planAgain(ctx, config, prior, value)
	return q, prior, scope, append(ds, more...)
}

// prior returns the object that is to become another: nil and null for a creation.
func (x *object) prior() (*states.Object, cty.Value, diags.Diagnostics) {
	null := x.rs.Block.NullValue()
	if x.c.Action != plans.Update {
		return nil, null, nil
	}
	o := x.a.object(x.c.Addr)
	if o == nil {
		return nil, null, diags.Errorf(nil, "Object to update is gone",
			"The state has no %s any more, although the plan is to update it. This is a bug in Lockstep: please report it.", x.c.Addr)
	}
	v, ds := x.a.s.Stored(x.c.Addr.Instance, x.rs, o)
	return o, v, ds
}

// planAgain asks the provider for a plan with everything known that is known by
// now, and holds it against the one that was approved: initial planned state ->
// final planned state.
func (x *object) planAgain(ctx context.Context, config cty.Value, prior *states.Object, priorValue cty.Value) (*session.Question, diags.Diagnostics) {
	q := &session.Question{
		Session: x.a.s, Client: x.client, Provider: x.c.Provider, Resource: x.r, Schema: x.rs, Addr: x.c.Addr.Instance,
		Config: config, Prior: priorValue, Private: x.c.Private,
	}
	if prior != nil {
		q.Private = prior.Private
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

func (x *object) inconsistent(what string) diags.Diagnostics {
	return diags.Errorf(nil, "Provider produced inconsistent final plan",
		"When expanding the plan for %s to include new values learned so far during apply, provider %q produced an invalid new value: %s.\n\nThis is a bug in the provider, which should be reported in the provider's own issue tracker.",
		x.c.Addr, x.c.Provider.Provider, what)
}

// perform lets the provider act and records what came of it. It returns the new
// value if there is one, beside errors too.
func (x *object) perform(ctx context.Context, q *session.Question, prior *states.Object) (cty.Value, diags.Diagnostics) {
	plainPrior := marks.Plain(q.Prior)
	planned := marks.Plain(q.Planned)
	config := marks.Plain(q.Config)
	if prior != nil && plainPrior.RawEquals(planned) {
		if session.SameMarks(q.Prior, q.Planned) {
			return q.Planned, nil // nothing is left to do: the object stays, with the dependencies that it had
		}
		// Only what is sensitive changes: that is the state's business alone.
		at := x.begin(plans.Update, q.Prior)
		ds := x.store(q.Planned, states.Ready, prior.Private)
		at.end(ds.HasErrors())
		return q.Planned, ds
	}
	restore := x.depose()
	verb := plans.Create
	if prior != nil {
		verb = plans.Update
	}
	at := x.begin(verb, q.Prior)
	call, ds := x.effect(ctx, verb, q.Planned, provider.ApplyRequest{
		TypeName: x.r.Addr.Type, Prior: plainPrior, Planned: planned, Config: config, Private: q.PlannedPrivate, Meta: x.meta(ctx),
	})
	made, more := x.keep(ctx, call, q, prior, ds.HasErrors())
	if ds = append(ds, more...); made == cty.NilVal {
		restore() // nothing came of it: what was there is still there
		ds = append(ds, call.returned(ctx, true)...)
	} else {
		at.made(made)
	}
	at.end(ds.HasErrors())
	return made, ds
}

// keep records what came of a creation or an update, and lets provisioners go on with
// a new object, which is tainted until they have finished. It returns the new value,
// cty.NilVal if there is none.
func (x *object) keep(ctx context.Context, call *call, q *session.Question, prior *states.Object, failed bool) (cty.Value, diags.Diagnostics) {
	plainPrior := marks.Plain(q.Prior)
	planned, sensitive := sensitivePaths(q.Planned)
	verb, status := plans.Create, states.Ready
	if prior != nil {
		verb, status = plans.Update, prior.Status
	}
	v, ds := x.newState(call.resp, verb, planned, plainPrior, failed)
	if v.IsNull() {
		x.a.leaveNoHusk(x.c.Addr.Instance.AbsResource())
		return cty.NilVal, ds
	}
	failed = failed || ds.HasErrors()
	provisioned := !failed && verb == plans.Create && len(x.ofCreation()) > 0
	if verb == plans.Create && (failed || provisioned) {
		status = states.Tainted
	}
	marked := session.MarkSensitive(v, x.rs, sensitive)
	ds = append(ds, x.store(marked, status, call.resp.Private)...)
	ds = append(ds, call.returned(ctx, failed)...)
	if !provisioned || ds.HasErrors() {
		return marked, ds
	}
	if ds = append(ds, x.afterCreation(marked)...); !ds.HasErrors() {
		ds = append(ds, x.store(marked, states.Ready, call.resp.Private)...)
	}
	return marked, ds
}

// depose puts the present object aside, if it is to be deleted only after its
// successor was made. The function returned undoes that.
func (x *object) depose() (restore func()) {
	if x.c.Action != plans.CreateThenDelete {
		return func() {}
	}
	old := x.a.object(x.c.Addr)
	if old == nil {
		return func() {}
	}
	key := newDeposedKey()
	deposed := addrs.ResourceInstanceObject{Instance: x.c.Addr.Instance, Deposed: key}
	x.move(old, x.c.Addr, deposed)
	x.a.mu.Lock()
	defer x.a.mu.Unlock()
	x.a.deposedAs[x.c] = key
	return func() {
		x.move(old, deposed, x.c.Addr)
	}
}

// move records an object at another address, in one step: no save has it twice, or not at all.
func (x *object) move(o *states.Object, from, to addrs.ResourceInstanceObject) {
	x.a.mu.Lock()
	x.a.state.SetObject(to, x.c.Provider, o)
	x.a.state.SetObject(from, x.c.Provider, nil)
	x.a.mu.Unlock()
	x.a.in.Journal.Move(from, to, x.c.Provider, o)
}

func newDeposedKey() addrs.DeposedKey {
	var b [4]byte
	rand.Read(b[:])
	return addrs.DeposedKey(hex.EncodeToString(b[:]))
}

// newState checks what a provider made of an object: final planned state -> new
// state. Beside an error whatever the provider knows is taken; null if that is nothing.
func (x *object) newState(resp provider.ApplyResponse, verb plans.Action, planned, prior cty.Value, failed bool) (cty.Value, diags.Diagnostics) {
	v := resp.New
	bad := func(summary, detail string, args ...any) diags.Diagnostics {
		args = append([]any{x.c.Provider.Provider, x.c.Addr}, args...)
		return diags.Errorf(nil, summary, "After the apply operation, provider %q returned an invalid result for %s: "+detail+".\n\nThis is a bug in the provider, which should be reported in the provider's own issue tracker. What the provider returned has been saved as far as possible.", args...)
	}
	null := x.rs.Block.NullValue()
	if v == cty.NilVal || v.IsNull() {
		switch {
		case failed && verb == plans.Update:
			return prior, nil
		case failed:
			return null, nil
		}
		return null, bad("Provider produced inconsistent result after apply", "root object was present, but now absent")
	}
	var ds diags.Diagnostics
	if errs := v.Type().TestConformance(x.rs.Block.ImpliedType()); len(errs) > 0 {
		if verb == plans.Update {
			v = prior
		} else {
			v = null
		}
		return v, bad("Provider produced invalid object", "%s", session.Describe(errs[0]))
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

// store records the object in the state.
func (x *object) store(v cty.Value, status states.Status, private []byte) diags.Diagnostics {
	o, err := session.Encode(v, x.rs, session.Encoding{
		Status: status, Private: private,
		Dependencies: x.a.deps.Stored(x.cr), CreateBeforeDestroy: x.a.forced.Has(x.cr, x.c.Addr.Instance.Resource.Key),
	})
	if err != nil {
		return diags.FromError("Object cannot be saved", err)
	}
	if !x.a.mentioned[x.a.in.Config.Modules[x.cr.Module].Content][x.cr.Resource] {
		o.Value = cty.NilVal // nobody is going to ask for it
	}
	x.a.set(x.c.Addr, x.c.Provider, o)
	return nil
}

// delete destroys the object: the current one, or the one that was deposed.
func (x *object) delete(ctx context.Context) diags.Diagnostics {
	addr := x.c.Addr
	if x.c.Action == plans.CreateThenDelete {
		x.a.mu.Lock()
		key, ok := x.a.deposedAs[x.c]
		x.a.mu.Unlock()
		if !ok {
			return nil // there was nothing to depose
		}
		addr.Deposed = key
	}
	o := x.a.object(addr)
	if o == nil {
		return nil // gone already
	}
	v, ds := x.a.s.Stored(addr.Instance, x.rs, o)
	if ds.HasErrors() {
		return ds
	}
	at := x.begin(plans.Delete, v)
	if x.endsOrderly(addr, o) {
		ds = append(ds, x.beforeDestruction(v)...)
	}
	if !ds.HasErrors() {
		ds = append(ds, x.destroy(ctx, addr, o, v)...)
	}
	at.end(ds.HasErrors())
	if ds.HasErrors() {
		x.a.report(x.a.save(ctx))
	}
	return ds
}

// destroy has the provider destroy an object with the value v, and records what is left
// of it.
func (x *object) destroy(ctx context.Context, addr addrs.ResourceInstanceObject, o *states.Object, v cty.Value) diags.Diagnostics {
	plain, sensitive := sensitivePaths(v)
	private := o.Private
	if x.c.Action == plans.Delete {
		private = x.c.Private
	}
	null := x.rs.Block.NullValue()
	call, ds := x.effect(ctx, plans.Delete, null, provider.ApplyRequest{
		TypeName: addr.Instance.Resource.Resource.Type, Prior: plain, Planned: null, Config: null, Private: private, Meta: x.meta(ctx),
	})
	if !ds.HasErrors() && call.resp.New != cty.NilVal && !call.resp.New.IsNull() {
		ds = append(ds, diags.Errorf(nil, "Provider returned invalid result object after apply",
			"After applying the deletion of %s, provider %q still returned an object.\n\nThis is a bug in the provider, which should be reported in the provider's own issue tracker.", addr, x.c.Provider.Provider)...)
	}
	switch {
	case !ds.HasErrors():
		x.a.set(addr, x.c.Provider, nil)
	case call.resp.New != cty.NilVal && !call.resp.New.IsNull() && call.resp.New.IsWhollyKnown():
		if left, err := session.Encode(session.MarkSensitive(call.resp.New, x.rs, sensitive), x.rs, session.Encoding{
			Status: o.Status, Private: call.resp.Private, Dependencies: o.Dependencies,
		}); err == nil {
			x.a.set(addr, x.c.Provider, left)
		}
	}
	return append(ds, call.returned(ctx, ds.HasErrors())...)
}

// read reads a data source that could not be read while planning.
func (x *object) read(ctx context.Context) diags.Diagnostics {
	scope, ds := x.a.scope(x.c.Addr.Instance, x.r)
	if ds = append(ds, x.a.openNeeded(ctx, x.c.Addr.Instance.Config())...); ds.HasErrors() {
		return ds
	}
	if ds = append(ds, x.conditions(x.r.Preconditions, scope, "Resource precondition failed")...); ds.HasErrors() {
		return ds
	}
	config, more := x.a.s.ResourceConfig(x.r, x.rs, scope)
	if ds = append(ds, more...); ds.HasErrors() {
		return ds
	}
	plain, sensitive := sensitivePaths(config)
	reading := session.Reading{
		Client: x.client, Provider: x.c.Provider, Resource: x.r, Schema: x.rs, Addr: x.c.Addr,
		Config: plain, Sensitive: sensitive, Events: x.a.in.Events,
	}
	var v cty.Value
	if check, nested := x.a.nested[x.r]; nested {
		var ok bool
		if v, ok, more = x.a.s.ReadNested(ctx, reading, check); !ok {
			return append(ds, more...) // what the plan had recorded stays
		}
	} else {
		v, more = x.a.s.ReadData(ctx, reading)
	}
	if ds = append(ds, more...); more.HasErrors() {
		return ds
	}
	o, err := session.Encode(v, x.rs, session.Encoding{Status: states.Ready})
	if err != nil {
		return append(ds, diags.FromError("Object cannot be saved", err)...)
	}
	x.a.set(x.c.Addr, x.c.Provider, o)
	scope.Self = v
	return append(ds, x.conditions(x.r.Postconditions, scope, "Resource postcondition failed")...)
}

// verify evaluates the conditions of an object that does not change.
func (x *object) verify() diags.Diagnostics {
	scope, ds := x.a.scope(x.c.Addr.Instance, x.r)
	if ds.HasErrors() {
		return ds
	}
	ds = append(ds, x.conditions(x.r.Preconditions, scope, "Resource precondition failed")...)
	o := x.a.object(x.c.Addr)
	if o == nil {
		return ds
	}
	v, more := x.a.s.Stored(x.c.Addr.Instance, x.rs, o)
	if ds = append(ds, more...); ds.HasErrors() {
		return ds
	}
	scope.Self = v
	return append(ds, x.conditions(x.r.Postconditions, scope, "Resource postcondition failed")...)
}

// hasConditions reports whether there is something to verify.
func (a *applier) hasConditions(c *plans.ResourceChange) bool {
	cr := c.Addr.Instance.Config()
	m := a.in.Config.Modules[cr.Module]
	if m == nil || m.Resources[cr.Resource] == nil {
		return false
	}
	r := m.Resources[cr.Resource]
	return len(r.Preconditions)+len(r.Postconditions) > 0
}

func (x *object) conditions(cs []*config.Condition, s eval.Scope, summary string) diags.Diagnostics {
	if len(cs) == 0 {
		return nil
	}
	return x.a.s.Eval.Conditions(cs, s, session.ResourceSubject(x.c.Addr.Instance), summary)
}

// sensitivePaths splits a value into the plain one and what is sensitive in it.
func sensitivePaths(v cty.Value) (cty.Value, []cty.Path) { return marks.Paths(v, marks.Sensitive) }
