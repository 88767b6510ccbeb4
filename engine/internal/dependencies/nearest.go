package dependencies

import (
	"slices"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/plans"
)

// A change waits for the changes of its dependencies. A dependency without a change of its own
// has nothing to wait for, but its dependencies may have: a data source that was read
// already, or a block without instances, passes its values on. So the dependencies of a change
// are its nearest ones with changes. A dependency that only loses instances counts, and the
// search goes on behind it, since its deletion passes nothing on.

// Fill sets the configuration dependencies (ConfigDeps) of changes: the nearest
// resources with changes. Behind [Transitive] resources nothing is searched. A change without
// a block has the dependencies of its provider configuration.
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

// OfProviders returns, for each of the changes, the nearest resources with changes
// that its provider configuration depends on.
func (g *Graph) OfProviders(changes []*plans.ResourceChange) [][]addrs.ConfigResource {
	n := g.nearest(changes)
	out := make([][]addrs.ConfigResource, len(changes))
	for i, c := range changes {
		out[i] = n.ofProvider(c.Provider)
	}
	return out
}

// OnlyInstances returns, for each of the changes, those of its dependencies to which its
// block refers by literal instance keys alone, with these keys. They are among its
// ConfigDeps. A resource that it depends on in another way as well, through its provider
// configuration or through a resource without changes, is not returned.
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

// onlyInstances is [Graph.OnlyInstances] for one block.
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

// nearest finds the nearest resources with changes, each answer once.
type nearest struct {
	g *Graph
	// changed are the resources with changes. In those of made, something is created,
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

// of returns the nearest resources that a block depends on.
func (n *nearest) of(cr addrs.ConfigResource) []addrs.ConfigResource {
	if out, ok := n.found[cr]; ok {
		return out
	}
	n.found[cr] = nil
	n.found[cr] = n.through(n.g.direct[cr])
	return n.found[cr]
}

// ofProvider returns the nearest resources that a provider configuration depends on.
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

// through returns the resources of a list that have changes, and instead of those in which
// nothing is made, or besides, the nearest ones behind them.
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
