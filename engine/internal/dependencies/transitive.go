package dependencies

import (
	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/plans"
	"github.com/lockstep-iac/lockstep/engine/states"
)

// In a chain that is destroyed, c before b before a, c need not be told to come before a. To
// list all pairs is quadratic in the length of the chain, and a state of 10,000 objects has
// such chains. So lists of dependencies end at resources through which the order is
// transitive anyway.

// Transitive returns the resources through which the order of deletions is transitive: whatever
// is deleted before them is deleted before their dependencies, too. Where objects
// are only deleted, these are the resources of which something is deleted in every
// instance of their module. (The order holds within one module instance: objects in
// different instances of a module do not depend on each other.) If any change but a deletion
// or a removal from the state is planned, there are none, for a deletion passes nothing on
// between what is made.
func Transitive(changes []*plans.ResourceChange) map[addrs.ConfigResource]bool {
	type scope struct {
		block addrs.ConfigResource
		in    addrs.ModuleInstance
	}
	modules := map[addrs.Module]map[addrs.ModuleInstance]bool{}
	seen := map[scope]bool{}
	deleted := map[addrs.ConfigResource]int{} // in how many module instances
	for _, c := range changes {
		cr, in := c.Addr.Instance.Config(), c.Addr.Instance.Module
		if modules[cr.Module] == nil {
			modules[cr.Module] = map[addrs.ModuleInstance]bool{}
		}
		modules[cr.Module][in] = true
		switch {
		case c.Action == plans.Delete && !seen[scope{cr, in}]:
			seen[scope{cr, in}] = true
			deleted[cr]++
		case c.Action != plans.Delete && c.Action != plans.Forget:
			return nil
		}
	}
	out := map[addrs.ConfigResource]bool{}
	for cr, n := range deleted {
		out[cr] = n == len(modules[cr.Module])
	}
	return out
}

// Implied returns a function for [states.Dependencies.Until]. It reports whether the further
// dependencies of a stored dependency follow from the other deletions: the resource
// is [Transitive], and each of its objects has just these further dependencies stored.
func Implied(changes []*plans.ResourceChange) func(states.Dependency) bool {
	blocks := Transitive(changes)
	further := map[addrs.ConfigResource]*states.Dependencies{}
	for _, c := range changes {
		cr := c.Addr.Instance.Config()
		if known, ok := further[cr]; ok && known != c.StoredDeps && blocks[cr] {
			blocks[cr] = false
		}
		further[cr] = c.StoredDeps
	}
	return func(d states.Dependency) bool { return blocks[d.Resource] && further[d.Resource] == d.Further }
}
