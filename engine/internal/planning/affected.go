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

An object without a change may still have to be read, because a change refers to it. This is known only after the
walk, when all changes are planned. Such objects are then read. Usually none of them has drifted, and the plan is
complete. Otherwise the plan is made again from the start. It takes over what was read, so no object is read twice.
After three attempts everything is read.

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
	near    map[addrs.ConfigResource][]addrs.ConfigResource
	pending map[addrs.AbsResource]bool // the results of pendingNear
	wrong   string                     // a settled instance for which the provider plans a change
}

func newAffected(s *attempts, p *planner) *affected {
	s.made++
	p.s.Inherit(s.session)
	s.session = p.s
	return &affected{
		attempts: s, p: p, unread: map[addrs.AbsResourceInstance]*instance{}, entries: map[string]digests.Entry{},
		near: map[addrs.ConfigResource][]addrs.ConfigResource{}, pending: map[addrs.AbsResource]bool{},
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
	x.p.prior.SetObject(x.object(), x.pc, &next)
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

// nearOf returns the managed resources that a block refers to. It looks through data sources and ephemeral
// resources, which are read in any case. The provider configuration counts as a part of the block.
func (a *affected) nearOf(cr addrs.ConfigResource) []addrs.ConfigResource {
	a.mu.Lock()
	defer a.mu.Unlock()
	if found, ok := a.near[cr]; ok {
		return found
	}
	var out []addrs.ConfigResource
	seen := map[addrs.ConfigResource]bool{cr: true}
	var visit func(addrs.ConfigResource)
	visit = func(x addrs.ConfigResource) {
		for _, d := range a.p.deps.Direct(x) {
			if seen[d] {
				continue
			}
			if seen[d] = true; d.Resource.Mode == addrs.Managed {
				out = append(out, d)
			} else {
				visit(d)
			}
		}
	}
	visit(cr)
	a.near[cr] = out
	return out
}

// pendingNear reports whether something that a block refers to has a planned change. It is asked after the visits
// of these resources.
func (a *affected) pendingNear(b *block, in addrs.AbsResourceInstance) bool {
	abs := in.AbsResource()
	a.mu.Lock()
	found, ok := a.pending[abs]
	a.mu.Unlock()
	if ok {
		return found
	}
	only := a.p.in.Refs.OnlyInstances(b.cr.Object())
	found = slices.ContainsFunc(a.nearOf(b.cr), func(d addrs.ConfigResource) bool {
		if d.Module != b.cr.Module { // within a module, only the same module instance counts
			return a.p.changes.PendingAnywhere(d)
		}
		near := addrs.AbsResource{Module: in.Module, Resource: d.Resource}
		keys := only[d.Object()]
		if len(keys) == 0 {
			return a.p.changes.Pending(near)
		}
		return slices.ContainsFunc(keys, func(k addrs.InstanceKey) bool {
			return slices.ContainsFunc(a.p.changes.Of(near.Instance(k)), func(c *plans.ResourceChange) bool { return c.Action != plans.NoOp })
		})
	})
	a.mu.Lock()
	a.pending[abs] = found
	a.mu.Unlock()
	return found
}

// needed returns the instances that were not read, although a change refers to them. Call it after the walk.
func (a *affected) needed() []*instance {
	byBlock := map[addrs.ConfigResource][]*instance{}
	for addr, x := range a.unread {
		byBlock[addr.Config()] = append(byBlock[addr.Config()], x)
	}
	found := map[addrs.AbsResourceInstance]*instance{}
	add := func(d addrs.ConfigResource, with func(addrs.AbsResourceInstance) bool) {
		for _, x := range byBlock[d] {
			if with(x.addr) {
				found[x.addr] = x
			}
		}
	}
	every := func(addrs.AbsResourceInstance) bool { return true }
	roots := map[addrs.AbsProviderConfig]bool{}
	changes, _ := a.p.changes.Sorted()
	for _, c := range changes {
		if c.Action == plans.NoOp {
			continue
		}
		addr, cr := c.Addr.Instance, c.Addr.Instance.Config()
		only := a.p.in.Refs.OnlyInstances(cr.Object())
		for _, d := range a.nearOf(cr) {
			keys := only[d.Object()]
			add(d, func(x addrs.AbsResourceInstance) bool {
				return (d.Module != cr.Module || x.Module == addr.Module && (len(keys) == 0 || slices.Contains(keys, x.Resource.Key)))
			})
		}
		if c.Destroys() || c.Action == plans.Forget { // what the state knows about an object that has no block
			for _, d := range c.StoredDeps.All() {
				add(d, every)
			}
		}
		if pc := c.Provider.Config(); !roots[pc] {
			roots[pc] = true
			a.rootsOf(pc, func(d addrs.ConfigResource) { add(d, every) })
		}
	}
	for _, x := range a.p.planned { // actions
		for _, d := range a.p.deps.Of(addrs.Object{Module: x.Addr.Module.Module(), Kind: addrs.KindAction, Res: x.Addr.Resource.Resource}) {
			add(d, every)
		}
	}
	out := make([]*instance, 0, len(found))
	for _, x := range found {
		out = append(out, x)
	}
	slices.SortFunc(out, func(x, y *instance) int { return x.addr.Compare(y.addr) })
	return out
}

// rootsOf calls visit for each managed resource that a provider configuration depends on, directly or not.
func (a *affected) rootsOf(pc addrs.AbsProviderConfig, visit func(addrs.ConfigResource)) {
	seen := map[addrs.ConfigResource]bool{}
	var walk func([]addrs.ConfigResource)
	walk = func(list []addrs.ConfigResource) {
		for _, d := range list {
			if !seen[d] {
				seen[d] = true
				visit(d)
				walk(a.p.deps.Direct(d))
			}
		}
	}
	walk(a.p.deps.OfProvider(pc))
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
	list := a.needed()
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

// storedData returns the value of a data source in the state, if the data source need not be read.
func (x *instance) storedData(ctx context.Context, config cty.Value) (cty.Value, bool) {
	a, w := x.p.affected, &x.weighed
	if a == nil || !a.Data || x.pc.Provider.IsBuiltin() {
		return cty.NilVal, false
	}
	w.name, w.clean = x.addr.String(), true
	w.sum, w.secret, w.has = x.p.s.Digest(ctx, session.Digesting{Provider: x.pc, Resource: x.r, Schema: x.rs, Addr: x.addr, Config: config})
	e, known := a.Record.Entry(w.name)
	o := x.p.prior.Object(x.object())
	if !w.has || w.secret || !known || e.Sum != w.sum || o == nil || o.SchemaVersion != x.rs.Version || o.AttrsJSON == nil || a.pendingNear(x.block, x.addr) {
		return cty.NilVal, false
	}
	v, ds := x.p.s.Stored(x.addr, x.rs, o)
	return v, !ds.HasErrors()
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
	out.Digests = next
	return out
}
