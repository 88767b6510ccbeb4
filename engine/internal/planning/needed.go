package planning

import (
	"slices"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/plans"
)

// A nearby resource is a managed resource that an object refers to.
type nearby struct {
	resource addrs.ConfigResource
	// outside is set if a reference leaves the module of the object. Then every module instance counts.
	outside bool
	// whole is set if a reference goes through a data source, an ephemeral resource or a provider
	// configuration. Then every instance of the resource counts, even if the object itself names one.
	whole bool
}

// nearOf returns the managed resources that an object refers to. It looks through data sources and ephemeral
// resources, which are read in any case. The provider configuration counts as a part of the object.
func (a *affected) nearOf(o addrs.Object) []nearby {
	a.mu.Lock()
	defer a.mu.Unlock()
	if found, ok := a.near[o]; ok {
		return found
	}
	// The root module has one instance, so the references need not be followed one by one.
	next := a.p.in.Refs.Resources
	if !o.Module.IsRoot() {
		next = a.p.in.Refs.Direct
	}
	type way struct {
		to             addrs.Object
		outside, whole bool
	}
	var out []nearby
	seen, at := map[way]bool{}, map[addrs.ConfigResource]int{}
	var visit func(way)
	visit = func(from way) {
		for _, u := range next(from.to) {
			// The argument of a variable is written in the calling module.
			w := way{u, from.outside || u.Module != o.Module || from.to.Kind == addrs.KindVariable, from.whole || u.Kind == addrs.KindProvider}
			if u == o || seen[w] {
				continue
			}
			seen[w] = true
			if u.Kind != addrs.KindResource || u.Res.Mode != addrs.Managed {
				w.whole = w.whole || u.Kind == addrs.KindResource
				visit(w)
				continue
			}
			cr := u.ConfigResource()
			i, ok := at[cr]
			if !ok {
				i = len(out)
				at[cr], out = i, append(out, nearby{resource: cr})
			}
			out[i].outside, out[i].whole = out[i].outside || w.outside, out[i].whole || w.whole
		}
	}
	visit(way{to: o})
	a.near[o] = out
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
	found = slices.ContainsFunc(a.nearOf(b.cr.Object()), func(n nearby) bool {
		if n.outside {
			return a.p.changes.PendingAnywhere(n.resource)
		}
		near := addrs.AbsResource{Module: in.Module, Resource: n.resource.Resource}
		keys := only[n.resource.Object()]
		if n.whole || len(keys) == 0 {
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

// A finding collects the instances that were not read, although something changes that refers to them.
type finding struct {
	*affected
	unread map[addrs.ConfigResource][]*instance // by block
	found  map[addrs.AbsResourceInstance]*instance
}

func (f *finding) add(cr addrs.ConfigResource, with func(addrs.AbsResourceInstance) bool) {
	for _, x := range f.unread[cr] {
		if with(x.addr) {
			f.found[x.addr] = x
		}
	}
}

// every adds all instances of a block.
func (f *finding) every(cr addrs.ConfigResource) {
	f.add(cr, func(addrs.AbsResourceInstance) bool { return true })
}

// nearTo adds what an object refers to in one module instance; in all of them if in is nil.
func (f *finding) nearTo(o addrs.Object, in *addrs.ModuleInstance) {
	only := f.p.in.Refs.OnlyInstances(o)
	for _, n := range f.nearOf(o) {
		keys := only[n.resource.Object()]
		f.add(n.resource, func(x addrs.AbsResourceInstance) bool {
			return n.outside || (in == nil || x.Module == *in) && (n.whole || len(keys) == 0 || slices.Contains(keys, x.Resource.Key))
		})
	}
}

// changes adds what the planned changes of resources refer to.
func (f *finding) changes() {
	roots := map[addrs.AbsProviderConfig]bool{}
	changes, _ := f.p.changes.Sorted()
	for _, c := range changes {
		if c.Action == plans.NoOp {
			continue
		}
		f.nearTo(c.Addr.Instance.Config().Object(), &c.Addr.Instance.Module)
		if c.Destroys() || c.Action == plans.Forget { // what the state knows about an object that has no block
			for _, d := range c.StoredDeps.All() {
				f.every(d)
			}
		}
		if pc := c.Provider.Config(); !roots[pc] {
			roots[pc] = true
			f.rootsOf(pc, f.every)
		}
	}
}

// needed returns the instances that were not read, although a change refers to them. Call it after the walk.
// outputs are the planned outputs.
func (a *affected) needed(outputs []*plans.OutputChange) []*instance {
	f := &finding{affected: a, unread: map[addrs.ConfigResource][]*instance{}, found: map[addrs.AbsResourceInstance]*instance{}}
	for addr, x := range a.unread {
		f.unread[addr.Config()] = append(f.unread[addr.Config()], x)
	}
	f.changes()
	for _, x := range a.changed {
		f.nearTo(x.Config().Object(), &x.Module)
	}
	for _, c := range outputs {
		if c.Action != plans.NoOp {
			f.nearTo(addrs.Object{Kind: addrs.KindOutput, Name: c.Name}, nil)
		}
	}
	for _, o := range a.newConditions() {
		f.nearTo(o, nil)
		if o.Kind == addrs.KindResource {
			f.every(o.ConfigResource()) // self in a postcondition
		}
	}
	for _, x := range a.p.planned { // actions
		for _, d := range a.p.deps.Of(addrs.Object{Module: x.Addr.Module.Module(), Kind: addrs.KindAction, Res: x.Addr.Resource.Resource}) {
			f.every(d)
		}
	}
	out := make([]*instance, 0, len(f.found))
	for _, x := range f.found {
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
