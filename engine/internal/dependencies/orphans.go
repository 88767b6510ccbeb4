package dependencies

import (
	"github.com/lockstep-iac/lockstep/engine/addrs"
)

// orphans are the resources in a state that have no block in the configuration.
type orphans struct {
	of map[addrs.Module][]addrs.ConfigResource
	// within caches [Graph.wholeModules].
	within map[addrs.Object]map[addrs.Module]bool
}

// AddOrphans is given the resources of the state, and remembers those without a block. A block that depends on
// a module as a whole depends on these resources of the module, too: it stores them as dependencies until an
// apply has deleted them.
// Source: tried with Terraform 1.11.4.
func (g *Graph) AddOrphans(list []addrs.ConfigResource) {
	of := map[addrs.Module][]addrs.ConfigResource{}
	for _, cr := range list {
		if m := g.cfg.Modules[cr.Module]; m != nil && m.Resources[cr.Resource] == nil && !cr.Module.IsRoot() {
			of[cr.Module] = append(of[cr.Module], cr)
		}
	}
	if len(of) > 0 {
		g.orphans = orphans{of, map[addrs.Object]map[addrs.Module]bool{}}
		g.store()
	}
}

// orphansOf returns the orphans in modules that o depends on as a whole.
func (g *Graph) orphansOf(o addrs.Object) []addrs.ConfigResource {
	if len(g.orphans.of) == 0 {
		return nil
	}
	var out []addrs.ConfigResource
	for m := range g.wholeModules(o) {
		out = append(out, g.orphans.of[m]...)
	}
	return out
}

// wholeModules returns the modules that o refers to as a whole, directly or through other objects than
// resources.
func (g *Graph) wholeModules(o addrs.Object) map[addrs.Module]bool {
	if found, ok := g.orphans.within[o]; ok {
		return found
	}
	found := map[addrs.Module]bool{}
	g.orphans.within[o] = found
	if o.Kind == addrs.KindInside {
		found[o.Module.Child(o.Name)] = true
	}
	for _, u := range g.refs.Direct(o) {
		if u.Kind == addrs.KindResource {
			continue // a resource stores its own modules
		}
		for m := range g.wholeModules(u) {
			found[m] = true
		}
	}
	return found
}
