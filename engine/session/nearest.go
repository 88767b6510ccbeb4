package session

import (
	"slices"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/plans"
	"github.com/lockstep-iac/lockstep/engine/states"
)

// Fill sets the configuration dependencies of changes: the nearest resources that
// have changes themselves, through those that have none (no instances, or data that
// was read already) and those that only lose instances, unless [Bridges] says that these
// are enough.
func (d *Dependencies) Fill(changes []*plans.ResourceChange) {
	n := d.near(changes)
	for _, c := range changes {
		cr := c.Addr.Instance.Config()
		if m := d.cfg.Modules[cr.Module]; m != nil && m.Resources[cr.Resource] != nil {
			c.ConfigDeps = n.of(cr)
			continue
		}
		// Without a block there is only what its provider configuration depends on.
		c.ConfigDeps = n.ofProvider(c.Provider)
	}
}

// OfProviders returns, for each of the changes, the nearest resources with changes
// that its provider configuration depends on.
func (d *Dependencies) OfProviders(changes []*plans.ResourceChange) [][]addrs.ConfigResource {
	n := d.near(changes)
	out := make([][]addrs.ConfigResource, len(changes))
	for i, c := range changes {
		out[i] = n.ofProvider(c.Provider)
	}
	return out
}

// OnlyInstances returns, for each of the changes, the resources that its configuration
// mentions by literal keys alone, and by which. They are among its ConfigDeps, and neither
// behind its provider configuration nor behind something that has no changes.
func (d *Dependencies) OnlyInstances(changes []*plans.ResourceChange) []map[addrs.ConfigResource][]addrs.InstanceKey {
	n := d.near(changes)
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

// onlyInstances returns the resources that a block mentions by literal keys alone.
func (n *nearest) onlyInstances(cr addrs.ConfigResource) map[addrs.ConfigResource][]addrs.InstanceKey {
	mentions := n.d.refs.OnlyInstances(objectOf(cr))
	if len(mentions) == 0 {
		return nil
	}
	out := make(map[addrs.ConfigResource][]addrs.InstanceKey, len(mentions))
	for o, keys := range mentions {
		out[addrs.ConfigResource{Module: o.Module, Resource: o.Res}] = keys
	}
	behind := func(list []addrs.ConfigResource) {
		for _, x := range list {
			delete(out, x)
		}
	}
	for _, u := range n.d.refs.Resources(objectOf(cr)) {
		if u.Kind == addrs.KindProvider {
			behind(n.through(n.d.Of(u)))
		}
	}
	for _, x := range n.d.direct[cr] {
		if !n.made[x] && !n.enough[x] {
			behind(n.of(x))
		}
	}
	return out
}

// nearest finds the nearest resources that have changes.
type nearest struct {
	d *Dependencies
	// changed are the resources with changes; made those where something is created,
	// updated, read or kept: what lies behind the others matters, too.
	changed, made map[addrs.ConfigResource]bool
	found         map[addrs.ConfigResource][]addrs.ConfigResource
	providers     map[addrs.AbsProviderConfig][]addrs.ConfigResource
	// enough are those behind which nobody has to look; see Bridges.
	enough map[addrs.ConfigResource]bool
}

func (d *Dependencies) near(changes []*plans.ResourceChange) *nearest {
	n := &nearest{
		d: d, changed: map[addrs.ConfigResource]bool{}, made: map[addrs.ConfigResource]bool{},
		found:     map[addrs.ConfigResource][]addrs.ConfigResource{},
		providers: map[addrs.AbsProviderConfig][]addrs.ConfigResource{},
		enough:    Bridges(changes),
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
	n.found[cr] = n.through(n.d.direct[cr])
	return n.found[cr]
}

// ofProvider returns the nearest resources that a provider configuration depends on.
func (n *nearest) ofProvider(pc addrs.AbsProviderConfig) []addrs.ConfigResource {
	out, ok := n.providers[pc]
	if !ok {
		if o, found := n.d.Provider(pc); found {
			out = n.through(n.d.Of(o))
		}
		n.providers[pc] = out
	}
	return out
}

// through adds what lies behind resources of which nothing is made, and leaves out
// those without changes.
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
		if !n.made[x] && !n.enough[x] {
			for _, y := range n.of(x) {
				add(y)
			}
		}
	}
	return out
}

// Bridges returns the resources that stand for whatever they depend on themselves: what
// comes before their deletion comes before that of their dependencies, too. Where objects
// are only deleted, that is so for each resource of which something is deleted in every
// instance of its module; objects in different ones have nothing to do with each other.
// So the dependencies of a chain that comes down need not be listed in full.
//
// If anything is made there are none: a deletion is no bridge between what is made.
func Bridges(changes []*plans.ResourceChange) map[addrs.ConfigResource]bool {
	type place struct {
		block addrs.ConfigResource
		in    addrs.ModuleInstance
	}
	modules := map[addrs.Module]map[addrs.ModuleInstance]bool{}
	seen := map[place]bool{}
	deleted := map[addrs.ConfigResource]int{} // in how many module instances
	for _, c := range changes {
		cr, in := c.Addr.Instance.Config(), c.Addr.Instance.Module
		if modules[cr.Module] == nil {
			modules[cr.Module] = map[addrs.ModuleInstance]bool{}
		}
		modules[cr.Module][in] = true
		switch {
		case c.Action == plans.Delete && !seen[place{cr, in}]:
			seen[place{cr, in}] = true
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

// Enough says of stored dependencies whether what they depend on in turn need not be looked
// at: they are [Bridges], and all their deletions wait for just that.
func Enough(changes []*plans.ResourceChange) func(states.Dependency) bool {
	blocks := Bridges(changes)
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
