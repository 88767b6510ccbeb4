package session

import (
	"slices"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/config"
	"github.com/lockstep-iac/lockstep/engine/plans"
	"github.com/lockstep-iac/lockstep/engine/refs"
	"github.com/lockstep-iac/lockstep/engine/states"
)

// Dependencies answers which resources depend on which, looking through provider
// configurations.
type Dependencies struct {
	cfg    *config.Config
	refs   *refs.Refs
	stored map[addrs.ConfigResource]*states.Dependencies
	direct map[addrs.ConfigResource][]addrs.ConfigResource
}

// NewDependencies computes the dependencies of all blocks of a configuration.
func NewDependencies(cfg *config.Config, r *refs.Refs) *Dependencies {
	d := &Dependencies{
		cfg: cfg, refs: r,
		stored: map[addrs.ConfigResource]*states.Dependencies{},
		direct: map[addrs.ConfigResource][]addrs.ConfigResource{},
	}
	d.compute()
	return d
}

func objectOf(cr addrs.ConfigResource) addrs.Object {
	return addrs.Object{Module: cr.Module, Kind: addrs.KindResource, Res: cr.Resource}
}

// Of returns the resources that an object depends on directly, those behind its
// provider configuration included.
func (d *Dependencies) Of(o addrs.Object) []addrs.ConfigResource {
	var out []addrs.ConfigResource
	seen := map[addrs.Object]bool{o: true}
	var visit func(addrs.Object)
	visit = func(x addrs.Object) {
		for _, u := range d.refs.Resources(x) {
			if seen[u] {
				continue
			}
			seen[u] = true
			if u.Kind == addrs.KindProvider {
				visit(u)
			} else {
				out = append(out, addrs.ConfigResource{Module: u.Module, Resource: u.Res})
			}
		}
	}
	visit(o)
	return out
}

// Direct returns the direct dependencies of a block. The caller must not change it.
func (d *Dependencies) Direct(cr addrs.ConfigResource) []addrs.ConfigResource { return d.direct[cr] }

// State returns the dependencies to store with a block's objects.
func (d *Dependencies) State(cr addrs.ConfigResource) *states.Dependencies { return d.stored[cr] }

// compute fills in direct and stored dependencies.
func (d *Dependencies) compute() {
	var visit func(cr addrs.ConfigResource) *states.Dependencies
	visit = func(cr addrs.ConfigResource) *states.Dependencies {
		if s, ok := d.stored[cr]; ok {
			return s
		}
		d.stored[cr] = nil // a resource that mentions itself
		d.direct[cr] = d.Of(objectOf(cr))
		var deps []states.Dependency
		for _, x := range d.direct[cr] {
			deps = append(deps, states.Dependency{Resource: x, Further: visit(x)})
		}
		d.stored[cr] = states.DirectDependencies(deps)
		return d.stored[cr]
	}
	for _, m := range d.cfg.Order {
		for r := range m.Resources {
			visit(addrs.ConfigResource{Module: m.Addr, Resource: r})
		}
	}
}

// CreateBeforeDestroy returns the blocks for which create-before-destroy is in
// force: by their own setting, or because something that depends on them, however
// far away, has it. What is created before the old one is destroyed needs its own
// dependencies' new ones before theirs are destroyed.
func (d *Dependencies) CreateBeforeDestroy() map[addrs.ConfigResource]bool {
	forced := map[addrs.ConfigResource]bool{}
	var force func(cr addrs.ConfigResource)
	force = func(cr addrs.ConfigResource) {
		if forced[cr] {
			return
		}
		forced[cr] = true
		for _, x := range d.direct[cr] {
			force(x)
		}
	}
	for _, m := range d.cfg.Order {
		for _, r := range m.Resources {
			if r.CreateBeforeDestroy {
				force(addrs.ConfigResource{Module: m.Addr, Resource: r.Addr})
			}
		}
	}
	return forced
}

// Fill sets the configuration dependencies of changes: the nearest resources that
// have changes themselves, through those that have none (no instances, or data that
// was read already) and those that only lose instances.
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

// nearest finds the nearest resources that have changes.
type nearest struct {
	d *Dependencies
	// changed are the resources with changes; made those where something is created,
	// updated, read or kept: what lies behind the others matters, too.
	changed, made map[addrs.ConfigResource]bool
	found         map[addrs.ConfigResource][]addrs.ConfigResource
	providers     map[addrs.AbsProviderConfig][]addrs.ConfigResource
}

func (d *Dependencies) near(changes []*plans.ResourceChange) *nearest {
	n := &nearest{
		d: d, changed: map[addrs.ConfigResource]bool{}, made: map[addrs.ConfigResource]bool{},
		found:     map[addrs.ConfigResource][]addrs.ConfigResource{},
		providers: map[addrs.AbsProviderConfig][]addrs.ConfigResource{},
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
		if !n.made[x] {
			for _, y := range n.of(x) {
				add(y)
			}
		}
	}
	return out
}

// Provider returns the block of a provider configuration.
func (d *Dependencies) Provider(pc addrs.AbsProviderConfig) (addrs.Object, bool) {
	m := d.cfg.Modules[pc.Module]
	if m == nil {
		return addrs.Object{}, false
	}
	for local := range m.Providers {
		if local.Alias == pc.Alias && m.ProviderOf(local.LocalName) == pc.Provider {
			return addrs.Object{Module: pc.Module, Kind: addrs.KindProvider, Name: local.String()}, true
		}
	}
	return addrs.Object{}, false
}
