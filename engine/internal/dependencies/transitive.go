package dependencies

import (
	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/plans"
	"github.com/lockstep-iac/lockstep/engine/states"
)

// Consider a chain that is destroyed: c before b, and b before a. These two orders imply that c comes before a.
// A list of all pairs is quadratic in the length of the chain, and a state of 10,000 objects has such chains.
// So a list of dependencies ends at a resource whose own list implies the rest.

// Transitive returns the resources through which the order of deletions is transitive. If b is one of them, and
// a depends on b and b on c, then deleting a before b and b before c also orders a and c.
//
// If all changes are deletions or removals from the state, these are the resources with a deletion in every
// instance of their module. (The order is per module instance: objects in different instances of a module do
// not depend on each other.) If any other change is planned, there are none, because a deletion passes no order
// on between objects that are made.
func Transitive(changes []*plans.ResourceChange) map[addrs.ConfigResource]bool {
	type scope struct {
		block addrs.ConfigResource
		in    addrs.ModuleInstance
	}
	modules := map[addrs.Module]map[addrs.ModuleInstance]bool{}
	seen := map[scope]bool{}
	deleted := map[addrs.ConfigResource]int{} // number of module instances with a deletion
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

// Implied returns a function for [states.Dependencies.Until]: it is true for a dependency whose own
// dependencies may be left out of a list. For example, a depends on b, and b on c. The list of a need not have
// c, if deleting a before b and b before c is ordered anyway. So b must be [Transitive], and every object of b
// must have stored the same dependencies as the list of a has for b.
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
