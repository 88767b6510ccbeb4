package planning

import (
	"github.com/lockstep-iac/lockstep/engine/addrs"
)

// -exclude leaves out the instances that it names, and everything that depends on them. The rest is planned
// with its dependencies. As with -target, references are between blocks: if one instance of a block is
// excluded, a block that refers to it is left out with all instances. A block with no selected instance is
// not expanded, so an error in its count or for_each does not matter. Values that nothing selected refers to
// are not evaluated, except root outputs that depend only on selected resources.
//
// A destroy works in the opposite direction: if an object stays, everything that it depends on stays, too.
// Source: OpenTofu 1.9, `tofu plan -exclude`. Unlike there, an address without instance keys means all
// instances of the modules on its path also in a destroy, not only in a plan.

// unexcluded is the set of instances that remain without the excludes.
type unexcluded struct {
	excludes []addrs.Target
	out      map[addrs.ConfigResource]bool // blocks that are left out completely
}

func (u *unexcluded) has(a addrs.AbsResourceInstance) bool {
	return !u.out[a.Config()] && !targetsContain(u.excludes, a)
}

func (u *unexcluded) names(a addrs.AbsResourceInstance) bool { return u.has(a) }

// selectUnexcluded returns everything but the excludes and their dependents.
func (in *targetInput) selectUnexcluded() *targetSelection {
	users := targetEdges{}
	in.configured(users.reverse)
	in.ofOrphans(users.reverse)
	u := in.without(users)
	c := &targetClosure{in: in, objects: map[addrs.Object]bool{}, needed: map[addrs.ConfigResource]bool{}}
	for _, cr := range in.blocks() {
		if !u.out[cr] {
			c.add(cr.Object())
		}
	}
	c.addOutputs()
	return &targetSelection{objects: c.objects, instances: u}
}

// destroyUnexcluded returns everything but the excludes and their dependencies.
func (in *targetInput) destroyUnexcluded() *targetSelection {
	used := targetEdges{}
	in.configured(used.add)
	in.ofOrphans(used.add)
	in.stored(used.add)
	return &targetSelection{instances: in.without(used)}
}

// without returns all instances except those that the excludes name. It also leaves out the blocks that can
// be reached from the excluded ones along the edges of next.
func (in *targetInput) without(next targetEdges) *unexcluded {
	var named, entirely []addrs.ConfigResource
	sort := func(cr addrs.ConfigResource) {
		if targetsMayName(in.Excludes, cr) {
			named = append(named, cr)
		}
		for _, t := range in.Excludes {
			if targetNamesAll(t, cr) {
				entirely = append(entirely, cr)
			}
		}
	}
	for _, cr := range in.blocks() {
		sort(cr)
	}
	for abs := range in.Prior.Resources() {
		sort(abs.Config())
	}
	u := &unexcluded{excludes: in.Excludes, out: next.reach(named)}
	for _, cr := range entirely {
		u.out[cr] = true
	}
	return u
}

// targetNamesAll reports whether an address names all instances of a block: it has no instance keys.
func targetNamesAll(t addrs.Target, cr addrs.ConfigResource) bool {
	m := t.Module.Module()
	if m.String() != t.Module.String() || !t.Key.IsNone() {
		return false
	}
	if t.IsModule() {
		return m.Contains(cr.Module)
	}
	return m == cr.Module && t.Resource == cr.Resource
}
