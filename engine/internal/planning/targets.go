package planning

import (
	"github.com/lockstep-iac/lockstep/engine/addrs"
)

// -target selects the instances that it names, and everything that their blocks refer to, directly or
// indirectly. References are between blocks, so every instance of a block that is a dependency is selected.
// But if a block is both named and a dependency, only the named instances are selected: that is the user's
// choice. A root output is selected if it depends only on selected resources. A dependency on a whole module
// also selects resources of that module that have no block any more. The plan deletes these.
//
// A destroy works in the opposite direction: if an object is destroyed, everything that depends on it is
// destroyed, too. The dependencies are those of the state. A dependency that only the configuration has is no
// reason to destroy an object.
// Source: Terraform 1.11.4.

// targeted is the set of instances that the option -target selects.
type targeted struct {
	targets []addrs.Target
	// named are the blocks with instances that the targets may name. needed are the blocks that these depend
	// on.
	named, needed map[addrs.ConfigResource]bool
	// dependents are the resources that depend on a target in a plan that destroys, each in one module
	// instance.
	dependents map[addrs.AbsResource]bool
}

func (t *targeted) has(a addrs.AbsResourceInstance) bool {
	if cr := a.Config(); (t.needed[cr] || t.dependents[a.AbsResource()]) && !t.named[cr] {
		return true
	}
	return t.names(a)
}

func (t *targeted) names(a addrs.AbsResourceInstance) bool { return targetsContain(t.targets, a) }

// selectTargets returns the targets with their dependencies.
func (in *targetInput) selectTargets() *targetSelection {
	t := &targeted{targets: in.Targets, named: map[addrs.ConfigResource]bool{}, needed: map[addrs.ConfigResource]bool{}}
	c := &targetClosure{in: in, objects: map[addrs.Object]bool{}, needed: t.needed}
	for _, cr := range in.blocks() {
		if targetsMayName(in.Targets, cr) {
			t.named[cr] = true
		}
	}
	for cr := range t.named {
		c.add(cr.Object())
	}
	c.addOutputs()
	return &targetSelection{objects: c.objects, instances: t}
}

// A targetClosure collects objects and everything that they refer to.
type targetClosure struct {
	in      *targetInput
	objects map[addrs.Object]bool
	needed  map[addrs.ConfigResource]bool   // blocks reached by a reference
	orphans map[addrs.Module][]targetOrphan // nil until needed
}

// add adds an object, and what it and its import blocks refer to.
func (c *targetClosure) add(o addrs.Object) {
	if c.objects[o] {
		return
	}
	c.objects[o] = true
	c.addAll(c.in.Refs.Direct(o))
	c.addAll(c.in.Refs.Imports(o))
	if o.Kind == addrs.KindInside {
		c.addOrphans(o.Module.Child(o.Name))
	}
}

// addOrphans adds the resources of a module that are only in the state. An object that depends on the module as
// a whole also depends on the deletion of these resources.
func (c *targetClosure) addOrphans(m addrs.Module) {
	if c.orphans == nil {
		c.orphans = c.in.orphans()
	}
	for _, x := range c.orphans[m] {
		c.needed[x.block] = true
		for _, d := range c.in.Deps.OfProvider(x.provider) {
			c.needed[d] = true
			c.add(d.Object())
		}
	}
}

func (c *targetClosure) addAll(list []addrs.Object) {
	for _, u := range list {
		if u.Kind == addrs.KindResource {
			c.needed[u.ConfigResource()] = true
		}
		c.add(u)
	}
}

// addOutputs adds the root outputs that depend on resources, and only on selected ones.
func (c *targetClosure) addOutputs() {
	for name := range c.in.Config.Root.Outputs {
		o := addrs.Object{Kind: addrs.KindOutput, Name: name}
		some, all := false, true
		for _, d := range c.in.Refs.Resources(o) {
			if d.Kind == addrs.KindResource {
				some, all = true, all && c.objects[d]
			}
		}
		if some && all {
			c.addValue(o)
		}
	}
}

// addValue adds a value and the values that it refers to, but no blocks.
func (c *targetClosure) addValue(o addrs.Object) {
	if c.objects[o] || o.Kind == addrs.KindResource {
		return
	}
	c.objects[o] = true
	for _, u := range c.in.Refs.Direct(o) {
		c.addValue(u)
	}
}

// destroyTargets returns the targets and everything that depends on them.
func (in *targetInput) destroyTargets() *targetSelection {
	t := &targeted{targets: in.Targets, named: map[addrs.ConfigResource]bool{}, dependents: in.dependents()}
	for _, cr := range in.blocks() {
		if targetsMayName(in.Targets, cr) {
			t.named[cr] = true
		}
	}
	for abs := range in.Prior.Resources() {
		if cr := abs.Config(); targetsMayName(in.Targets, cr) {
			t.named[cr] = true
		}
	}
	return &targetSelection{instances: t}
}

// dependents returns the resources of the state that depend on targets, so that no object outlives its
// dependency. A dependency within a module applies to the same module instance only: resources in other
// instances stay.
func (in *targetInput) dependents() map[addrs.AbsResource]bool {
	var next []addrs.AbsResource
	byBlock := map[addrs.ConfigResource][]addrs.AbsResource{}
	for abs, r := range in.Prior.Resources() {
		byBlock[abs.Config()] = append(byBlock[abs.Config()], abs)
		for k := range r.Instances {
			if targetsContain(in.Targets, abs.Instance(k)) {
				next = append(next, abs)
				break
			}
		}
	}
	users := targetEdges{}
	in.stored(users.reverse)
	out, done, doneBlock := map[addrs.AbsResource]bool{}, map[addrs.AbsResource]bool{}, map[addrs.ConfigResource]bool{}
	reach := func(abs addrs.AbsResource) {
		if !out[abs] {
			out[abs] = true
			next = append(next, abs)
		}
	}
	for len(next) > 0 {
		used := next[len(next)-1]
		if next = next[:len(next)-1]; done[used] {
			continue
		}
		done[used] = true
		cr := used.Config()
		for _, user := range users[cr] {
			switch near := (addrs.AbsResource{Module: used.Module, Resource: user.Resource}); {
			case user.Module == cr.Module && in.Prior.Resource(near) != nil:
				reach(near)
			case user.Module != cr.Module && !doneBlock[cr]:
				for _, abs := range byBlock[user] {
					reach(abs)
				}
			}
		}
		doneBlock[cr] = true
	}
	return out
}
