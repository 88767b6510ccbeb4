package planning

import (
	"bytes"
	"context"
	"hash/maphash"
	"slices"
	"sync"

	"github.com/zclconf/go-cty/cty"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/engine/digests"
	"github.com/lockstep-iac/lockstep/engine/events"
	"github.com/lockstep-iac/lockstep/engine/internal/session"
	"github.com/lockstep-iac/lockstep/engine/plans"
	"github.com/lockstep-iac/lockstep/engine/provider"
	"github.com/lockstep-iac/lockstep/engine/states"
)

/*
# Which objects a plan with -refresh=affected reads

A visit evaluates the configuration of an instance with the values that are planned so far, and compares its
digest with the one of the last apply. An object is not read if all of this holds:

  - Its digest is the same, so neither its configuration nor a value that reaches it has changed. A value of an
    object that was read and has drifted is a changed value.
  - Nothing that its block refers to has a planned change.
  - It is not moved, tainted, replaced by -replace or a trigger, deposed or undeclared, and no action waits for it.
  - The provider plans no change for it. An object with a change is read, and planned again from what was read.

An object without a change may still have to be read, because a change refers to it. So does an output whose value
changes, a data source that is new or edited, and a condition that is new, edited or failed
(affected_conditions.go). This is known only after the walk, when all changes are planned. Such objects are then
read. Usually none of them has drifted, and the plan is
complete. Otherwise the plan is made again from the start. It takes over what was read, so no object is read twice.
After three attempts everything is read. Everything is also read, once, if the plan has an error: the error may
come from a value in the state that is not true any more.

Digests are only a reason to read less. Nothing in the configuration sets them: a pull request that changes
anything about an object changes its digest. Whoever can write the record beside the state can also write the
state.

A record may also say that an object is settled: the provider has planned no change for exactly this object and
this configuration. Then the provider is not even asked. A few settled objects are chosen at random, and the
provider is asked about them: if it plans a change, the record is wrong, and everything is read.
*/

// Affected are the options of a plan that reads only what its changes can affect.
type Affected struct {
	// Record has the digests of the last apply, for exactly the state of the plan. If it is nil, everything
	// is read, and the next apply keeps the digests.
	Record *digests.Record
	// Why is the reason why Record is nil.
	Why string
	// Data applies the same to data sources.
	Data bool
	// Checked are the validated blocks, whose digests the next apply keeps. It may be nil.
	Checked *digests.Checked
}

// mostAttempts is how often a plan is made before everything is read.
const mostAttempts = 3

// attempts is what the attempts at one plan share.
type attempts struct {
	Affected
	made int
	// required are the instances to read in any case, as an earlier attempt has found.
	required map[addrs.AbsResourceInstance]bool
	seed     maphash.Seed     // selects the sample of settled objects
	settled  int              // number of settled objects in the record
	session  *session.Session // of the last attempt

	mu    sync.Mutex
	reads map[reading]provider.ReadResponse
}

// A reading is a call to read an object. The digest is that of the provider's configuration.
type reading struct {
	addr     addrs.ResourceInstanceObject
	provider addrs.AbsProviderConfig
	config   digests.Sum
}

func newAttempts(a Affected) *attempts {
	out := &attempts{Affected: a, seed: maphash.MakeSeed(), required: map[addrs.AbsResourceInstance]bool{}, reads: map[reading]provider.ReadResponse{}}
	if a.Record != nil {
		for _, e := range a.Record.Entries {
			if e.Settled {
				out.settled++
			}
		}
	}
	return out
}

// everything makes the next attempt read everything.
func (s *attempts) everything(why string) { s.Record, s.Why = nil, why }

// sampled reports whether the provider is asked about a settled object: one of a thousand, and at least one.
func (s *attempts) sampled(instance string) bool {
	n := uint64(max(1, s.settled/1000))
	return maphash.String(s.seed, instance)%uint64(max(1, s.settled)) < n
}

// affected is what one attempt at a plan has found out about objects. Its methods may be called concurrently.
type affected struct {
	*attempts
	p      *planner
	events []events.Event // of planned changes, until the attempt is the last

	mu sync.Mutex
	// unread are the instances whose objects were not read.
	unread     map[addrs.AbsResourceInstance]*instance
	unreadData int
	// entries are the digests for the next apply.
	entries map[string]digests.Entry
	near    map[addrs.Object][]nearby
	// changed are instances without a planned change of their own that count as changed: data sources that are
	// new, or get other arguments, and managed resources with another replace_triggered_by.
	changed []addrs.AbsResourceInstance
	// spared is set if a value of the state was used because an object or a data source was not read.
	spared  bool
	pending map[addrs.AbsResource]bool // the results of pendingNear
	wrong   string                     // a settled instance for which the provider plans a change
}

func newAffected(s *attempts, p *planner) *affected {
	s.made++
	p.s.Inherit(s.session)
	s.session = p.s
	return &affected{
		attempts: s, p: p, unread: map[addrs.AbsResourceInstance]*instance{}, entries: map[string]digests.Entry{},
		near: map[addrs.Object][]nearby{}, pending: map[addrs.AbsResource]bool{},
	}
}

// listen keeps the events of planned changes. Another attempt would send them again.
func (a *affected) listen(e events.Event) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.events = append(a.events, e)
}

// send sends the kept events.
func (a *affected) send() {
	for _, e := range a.events {
		a.p.in.Events.Send(e)
	}
}

// A weighed instance is one whose configuration was compared with the last apply.
type weighed struct {
	name   string // the address
	config cty.Value
	ds     diags.Diagnostics // of evaluating the configuration
	done   bool              // config was evaluated without errors
	sum    digests.Sum
	has    bool // sum is set
	secret bool // the configuration has values that are no part of sum
	// unread is set if the object need not be read, and settled if the provider need not be asked either.
	unread, settled bool
	sampled         bool // settled, but the provider is asked anyway
	clean           bool // the provider had no warnings
}

// weigh decides whether the object of an instance is read.
func (x *instance) weigh(ctx context.Context) {
	a, w := x.p.affected, &x.weighed
	w.clean = true
	if w.config, w.ds = x.p.s.ResourceConfig(x.r, x.rs, x.scope); w.ds.HasErrors() {
		return // reported when the instance is planned
	}
	w.done, w.name = true, x.addr.String()
	w.sum, w.secret, w.has = x.p.s.Digest(ctx, session.Digesting{Provider: x.pc, Resource: x.r, Schema: x.rs, Addr: x.addr, Config: w.config})
	e, known := a.Record.Entry(w.name)
	if len(x.r.ReplaceTriggeredBy) > 0 && !(w.has && known && e.Sum == w.sum) {
		a.change(x.addr)
	}
	if x.imported || !w.has || !known || e.Sum != w.sum || a.required[x.addr] || x.forceReplace() {
		return
	}
	if _, moved := x.p.moved.Origins[x.addr]; moved || !x.p.prior.Usual(x.addr, x.rs.Version) || a.pendingNear(x.block, x.addr) {
		return
	}
	if len(x.r.ReplaceTriggeredBy) > 0 {
		if fires, ds := x.triggers().fires(); fires || ds.HasErrors() {
			return
		}
	}
	w.unread = true
	w.settled = e.Settled && !w.secret
	w.sampled = w.settled && a.sampled(w.name)
}

// stored returns the object as the state has it; false if it has to be read.
func (x *instance) stored(ctx context.Context) (refreshed, bool) {
	o := x.p.prior.Object(x.object())
	v, ds := x.p.s.Stored(x.addr, x.rs, o)
	if ds.HasErrors() || session.LacksPaths(o, x.rs, v) {
		return refreshed{}, false
	}
	identity, ds := x.p.s.DecodeIdentity(ctx, x.client, x.addr, x.rs, o)
	if ds.HasErrors() {
		return refreshed{}, false
	}
	next := *o
	next.Value, next.CreateBeforeDestroy, next.SkipDestroy = v, x.cbd, x.r.Keep
	if !x.stores(o.Dependencies) { // as a refresh does
		next.Dependencies = states.MergeDependencies(x.p.deps.Stored(x.cr), o.Dependencies)
	}
	x.p.prior.SetObject(x.object(), x.pc, &next)
	x.p.affected.spare()
	return refreshed{object: &next, value: v, identity: identity}, true
}

// settledChange is the change of a settled instance.
func (x *instance) settledChange() *plans.ResourceChange {
	return &plans.ResourceChange{
		Addr: x.object(), Provider: x.pc, Schema: x.rs,
		Change: plans.Change{
			Action: plans.NoOp, Before: x.found.value, After: x.found.value, BeforeIdentity: x.found.identity, AfterIdentity: x.found.identity,
		},
		Private: x.found.object.Private, CreateBeforeDestroy: x.cbd, StoredDeps: x.storedDeps(),
	}
}

// record keeps what was found out about an instance without a change.
func (a *affected) record(x *instance) {
	w := &x.weighed
	w.config, w.ds = cty.NilVal, nil // not needed any more
	a.mu.Lock()
	defer a.mu.Unlock()
	if w.has {
		a.entries[w.name] = digests.Entry{Sum: w.sum, Settled: w.clean && !w.secret}
	}
	if w.unread {
		a.unread[x.addr] = x
	}
}

// doubt records that the provider plans a change for a settled object.
func (a *affected) doubt(instance string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.wrong = instance
}

// change records that an instance counts as changed.
func (a *affected) change(x addrs.AbsResourceInstance) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.changed = append(a.changed, x)
}

// spare records that a value of the state was used instead of a real one.
func (a *affected) spare() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.spared = true
}

// again reads the objects that are still needed, and reports whether the plan has to be made again.
func (a *affected) again(ctx context.Context) bool {
	if a.Record == nil || ctx.Err() != nil {
		return false
	}
	if a.wrong != "" {
		a.everything("the digests beside the state are wrong: the provider plans a change for " + a.wrong + ", which they exclude")
		return true
	}
	list := a.needed(a.p.unvisited())
	drifted, found := make([]bool, len(list)), make([]diags.Diagnostics, len(list))
	a.p.report(each(ctx, len(list), func(ctx context.Context, i int) {
		drifted[i], found[i] = list[i].late(ctx)
	}))
	for i, x := range list {
		a.p.report(x.complete(found[i], x.addr))
		delete(a.unread, x.addr)
		a.required[x.addr] = true
	}
	if !slices.Contains(drifted, true) {
		return false
	}
	if a.made >= mostAttempts {
		a.everything("objects that the changes depend on have drifted")
	}
	return true
}

// failed reports whether the plan has to be made again because of an error, which may come from values that were
// not read. ds are the diagnostics of the whole plan.
func (a *affected) failed(ctx context.Context, ds diags.Diagnostics) bool {
	if a.Record == nil || ctx.Err() != nil || !a.spared || !ds.HasErrors() {
		return false
	}
	a.everything("a first plan, which did not read some objects, had an error")
	return true
}

// late reads the object of an instance that has no change. It reports whether the object differs from the
// state, so that the plan made from the state may be wrong.
func (x *instance) late(ctx context.Context) (drifted bool, ds diags.Diagnostics) {
	was := x.found
	now, ds := x.refresh(ctx, x.object())
	if ds.HasErrors() {
		return false, ds
	}
	same := now.object != nil && was.value.RawEquals(now.value) && bytes.Equal(was.object.Private, now.object.Private) && sameIdentity(was.identity, now.identity)
	return !same, ds
}

func sameIdentity(a, b cty.Value) bool {
	if a == cty.NilVal || b == cty.NilVal {
		return a == cty.NilVal && b == cty.NilVal
	}
	return a.RawEquals(b)
}

// read reads an object, or returns what an earlier attempt has read.
func (p *planner) read(ctx context.Context, r session.Refreshing) (provider.ReadResponse, diags.Diagnostics) {
	if p.affected == nil {
		return p.s.Refresh(ctx, r)
	}
	a := p.affected.attempts
	key := reading{r.Addr, r.Provider, p.s.ProviderDigest(r.Provider)}
	if key.config == (digests.Sum{}) { // each attempt may configure the provider otherwise
		return p.s.Refresh(ctx, r)
	}
	a.mu.Lock()
	resp, ok := a.reads[key]
	a.mu.Unlock()
	if ok {
		return resp, nil
	}
	resp, ds := p.s.Refresh(ctx, r)
	if len(ds) == 0 { // a warning is to be shown by the last attempt, too
		a.mu.Lock()
		a.reads[key] = resp
		a.mu.Unlock()
	}
	return resp, ds
}

// weighData compares the configuration of a data source with the last apply.
func (x *instance) weighData(ctx context.Context, config cty.Value) {
	a, w := x.p.affected, &x.weighed
	if a == nil {
		return
	}
	w.name, w.clean = x.addr.String(), true
	w.sum, w.secret, w.has = x.p.s.Digest(ctx, session.Digesting{Provider: x.pc, Resource: x.r, Schema: x.rs, Addr: x.addr, Config: config})
	e, known := a.Record.Entry(w.name)
	if w.unread = w.has && known && e.Sum == w.sum; !w.unread {
		a.change(x.addr)
	}
}

// storedData returns the value of a data source in the state, if the data source need not be read.
func (x *instance) storedData() (cty.Value, bool) {
	a, w := x.p.affected, &x.weighed
	if a == nil || !a.Data || x.pc.Provider.IsBuiltin() || !w.unread || w.secret {
		return cty.NilVal, false
	}
	o := x.p.prior.Object(x.object())
	if o == nil || o.SchemaVersion != x.rs.Version || o.AttrsJSON == nil || a.pendingNear(x.block, x.addr) {
		return cty.NilVal, false
	}
	v, ds := x.p.s.Stored(x.addr, x.rs, o)
	if ds.HasErrors() {
		return cty.NilVal, false
	}
	a.spare()
	return v, true
}

// recordData keeps the digest of a data source that was read, or was not read because of its digest.
func (a *affected) recordData(x *instance, unread bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if x.weighed.has && !x.weighed.secret {
		a.entries[x.weighed.name] = digests.Entry{Sum: x.weighed.sum}
	}
	if unread {
		a.unreadData++
	}
}

// result returns what the plan says about the objects that were not read.
func (a *affected) result(selected *targetSelection, prior *states.State) *plans.Affected {
	out := &plans.Affected{Unread: len(a.unread), UnreadData: a.unreadData, Data: a.Data, Everything: a.Why}
	next := &digests.Record{FullRead: a.p.in.Timestamp, Entries: a.entries}
	if a.Record != nil {
		out.Everything, out.Since = "", a.Record.FullRead
		if selected.Partial() { // the rest of the state keeps its digests
			for abs, r := range prior.Resources() {
				for k := range r.Instances {
					name := abs.Instance(k).String()
					if e, ok := a.Record.Entry(name); ok && !selected.hasInstance(abs.Instance(k)) {
						a.entries[name] = e
					}
				}
			}
		}
		if out.Unread+out.UnreadData > 0 || selected.Partial() {
			next.FullRead = a.Record.FullRead
		}
	}
	a.Checked.AddTo(a.entries)
	a.recordConditions()
	out.Digests = next
	return out
}
