package dependencies

import (
	"slices"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/plans"
)

// A change waits for the changes of its dependencies. A dependency without a change has nothing to wait for,
// but its own dependencies may have: a data source that was already read, or a block without instances,
// passes their values on. So the dependencies of a change are the nearest dependencies that have changes. A
// dependency that only loses instances counts, but the search also continues with its dependencies, since a
// deletion passes no values on.

// Fill sets ConfigDeps of each change: the nearest resources with changes that the block of the change depends
// on. For example, let a depend on b, and b on c:
//
//   - If b has a change, ConfigDeps of a has b.
//   - If only c has a change, ConfigDeps of a has c.
//   - If b only loses instances, ConfigDeps of a has b and c.
//
// A change without a block gets the dependencies of its provider configuration.
func (g *Graph) Fill(changes []*plans.ResourceChange) {
	n := g.nearest(changes)
	for _, c := range changes {
		cr := c.Addr.Instance.Config()
		if m := g.cfg.Modules[cr.Module]; m != nil && m.Resources[cr.Resource] != nil {
			c.ConfigDeps = n.of(cr)
			continue
		}
		c.ConfigDeps = n.ofProvider(c.Provider)
	}
}

// OfProviders returns, for each change, the nearest resources with changes that its provider configuration
// depends on; see [Graph.Fill].
func (g *Graph) OfProviders(changes []*plans.ResourceChange) [][]addrs.ConfigResource {
	n := g.nearest(changes)
	out := make([][]addrs.ConfigResource, len(changes))
	for i, c := range changes {
		out[i] = n.ofProvider(c.Provider)
	}
	return out
}

// OnlyInstances returns, for each change, the resources of its ConfigDeps to which its block refers only with
// literal instance keys, as in `a[0]`, and these keys. It leaves out resources that the block also depends on
// in another way: through its provider configuration, or through a resource without changes.
func (g *Graph) OnlyInstances(changes []*plans.ResourceChange) []map[addrs.ConfigResource][]addrs.InstanceKey {
	n := g.nearest(changes)
	out := make([]map[addrs.ConfigResource][]addrs.InstanceKey, len(changes))
	known := map[addrs.ConfigResource]map[addrs.ConfigResource][]addrs.InstanceKey{}
	for i, c := range changes {
		cr := c.Addr.Instance.Config()
		only, ok := known[cr]
		if !ok {
			only = n.onlyInstances(cr)
			known[cr] = only
		}
		out[i] = only
	}
	return out
}

// onlyInstances returns for one block what [Graph.OnlyInstances] returns for each change.
func (n *nearest) onlyInstances(cr addrs.ConfigResource) map[addrs.ConfigResource][]addrs.InstanceKey {
	keyed := n.g.refs.OnlyInstances(cr.Object())
	if len(keyed) == 0 {
		return nil
	}
	out := make(map[addrs.ConfigResource][]addrs.InstanceKey, len(keyed))
	for o, keys := range keyed {
		out[o.ConfigResource()] = keys
	}
	remove := func(list []addrs.ConfigResource) {
		for _, x := range list {
			delete(out, x)
		}
	}
	for _, u := range n.g.refs.Resources(cr.Object()) {
		if u.Kind == addrs.KindProvider {
			remove(n.through(n.g.Of(u)))
		}
	}
	for _, x := range n.g.direct[cr] {
		if !n.made[x] && !n.transitive[x] {
			remove(n.of(x))
		}
	}
	return out
}

// nearest finds the nearest dependencies with changes. It computes each answer once.
type nearest struct {
	g *Graph
	// changed are the resources with changes. made are the changed resources in which something is created,
	// updated, read or kept: the search ends there.
	changed, made map[addrs.ConfigResource]bool
	transitive    map[addrs.ConfigResource]bool // see [Transitive]: the search ends there, too
	found         map[addrs.ConfigResource][]addrs.ConfigResource
	providers     map[addrs.AbsProviderConfig][]addrs.ConfigResource
}

func (g *Graph) nearest(changes []*plans.ResourceChange) *nearest {
	n := &nearest{
		g: g, changed: map[addrs.ConfigResource]bool{}, made: map[addrs.ConfigResource]bool{},
		found:      map[addrs.ConfigResource][]addrs.ConfigResource{},
		providers:  map[addrs.AbsProviderConfig][]addrs.ConfigResource{},
		transitive: Transitive(changes),
	}
	for _, c := range changes {
		cr := c.Addr.Instance.Config()
		n.changed[cr] = true
		if c.Action != plans.Delete && c.Action != plans.Forget {
			n.made[cr] = true
		}
	}
	return n
}

// of returns the nearest dependencies of a block that have changes.
func (n *nearest) of(cr addrs.ConfigResource) []addrs.ConfigResource {
	if out, ok := n.found[cr]; ok {
		return out
	}
	n.found[cr] = nil
	n.found[cr] = n.through(n.g.direct[cr])
	return n.found[cr]
}

// ofProvider returns the nearest dependencies of a provider configuration that have changes.
func (n *nearest) ofProvider(pc addrs.AbsProviderConfig) []addrs.ConfigResource {
	out, ok := n.providers[pc]
	if !ok {
		if o, found := n.g.Provider(pc); found {
			out = n.through(n.g.Of(o))
		}
		n.providers[pc] = out
	}
	return out
}

// through returns the resources of direct that have changes. If a resource has no changes, or only deletions
// and removals, through also adds the nearest dependencies of this resource that have changes.
func (n *nearest) through(direct []addrs.ConfigResource) []addrs.ConfigResource {
	if !slices.ContainsFunc(direct, func(cr addrs.ConfigResource) bool { return !n.made[cr] }) {
		return direct
	}
	var out []addrs.ConfigResource
	seen := map[addrs.ConfigResource]bool{}
	add := func(cr addrs.ConfigResource) {
		if !seen[cr] {
			seen[cr] = true
			out = append(out, cr)
		}
	}
	for _, x := range direct {
		if n.changed[x] {
			add(x)
		}
		if !n.made[x] && !n.transitive[x] {
			for _, y := range n.of(x) {
				add(y)
			}
		}
	}
	return out
}
