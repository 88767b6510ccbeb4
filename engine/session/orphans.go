package session

import (
	"github.com/lockstep-iac/lockstep/engine/addrs"
)

// orphans are the resources that a state has and a configuration has not.
type orphans struct {
	of map[addrs.Module][]addrs.ConfigResource
	// within caches the modules that an object means as a whole.
	within map[addrs.Object]map[addrs.Module]bool
}

// Orphans tells d which resources of the state have no block any more. In the stored
// dependencies of what depends on a whole module they stand beside those that the module
// still has, until an apply has deleted them (tried with Terraform 1.11.4). It must be
// called before d is shared.
func (d *Dependencies) Orphans(list []addrs.ConfigResource) {
	of := map[addrs.Module][]addrs.ConfigResource{}
	for _, cr := range list {
		if m := d.cfg.Modules[cr.Module]; m != nil && m.Resources[cr.Resource] == nil && !cr.Module.IsRoot() {
			of[cr.Module] = append(of[cr.Module], cr)
		}
	}
	if len(of) > 0 {
		d.orphans = orphans{of, map[addrs.Object]map[addrs.Module]bool{}}
		d.store()
	}
}

// orphansOf returns the orphans in modules that o depends on as a whole.
func (d *Dependencies) orphansOf(o addrs.Object) []addrs.ConfigResource {
	if len(d.orphans.of) == 0 {
		return nil
	}
	var out []addrs.ConfigResource
	for m := range d.wholeModules(o) {
		out = append(out, d.orphans.of[m]...)
	}
	return out
}

// wholeModules returns the modules that o means as a whole, looking through everything but
// resources.
func (d *Dependencies) wholeModules(o addrs.Object) map[addrs.Module]bool {
	if found, ok := d.orphans.within[o]; ok {
		return found
	}
	found := map[addrs.Module]bool{}
	d.orphans.within[o] = found
	if o.Kind == addrs.KindInside {
		found[o.Module.Child(o.Name)] = true
	}
	for _, u := range d.refs.Direct(o) {
		if u.Kind == addrs.KindResource {
			continue // it has its own
		}
		for m := range d.wholeModules(u) {
			found[m] = true
		}
	}
	return found
}
