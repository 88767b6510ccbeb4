package session

import (
	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/config"
	"github.com/lockstep-iac/lockstep/engine/refs"
	"github.com/lockstep-iac/lockstep/engine/states"
)

// Dependencies answers which resources depend on which, looking through provider
// configurations.
type Dependencies struct {
	cfg     *config.Config
	refs    *refs.Refs
	stored  map[addrs.ConfigResource]*states.Dependencies
	direct  map[addrs.ConfigResource][]addrs.ConfigResource
	orphans orphans
	imports bool // counts
}

// NewDependencies computes the dependencies of all blocks of a configuration.
func NewDependencies(cfg *config.Config, r *refs.Refs) *Dependencies {
	d := &Dependencies{cfg: cfg, refs: r, direct: map[addrs.ConfigResource][]addrs.ConfigResource{}}
	for _, m := range cfg.Order {
		for res := range m.Resources {
			cr := addrs.ConfigResource{Module: m.Addr, Resource: res}
			d.direct[cr] = d.Of(objectOf(cr))
		}
	}
	d.store()
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

// CountImports has State and CreateBeforeDestroy count what import blocks need, too. That is
// so while they are planned: an object to which nothing but its import happens has these
// dependencies until it changes.
func (d *Dependencies) CountImports() {
	d.imports = true
	d.store()
}

// Imports returns the resources that the import blocks for a resource need.
func (d *Dependencies) Imports(cr addrs.ConfigResource) []addrs.ConfigResource {
	var out []addrs.ConfigResource
	for _, u := range d.refs.Imports(objectOf(cr)) {
		if u.Kind == addrs.KindResource {
			out = append(out, addrs.ConfigResource{Module: u.Module, Resource: u.Res})
		} else {
			out = append(out, d.Of(u)...)
		}
	}
	return out
}

// State returns the dependencies to store with a block's objects.
func (d *Dependencies) State(cr addrs.ConfigResource) *states.Dependencies { return d.stored[cr] }

// store computes what is to be stored.
func (d *Dependencies) store() {
	d.stored = make(map[addrs.ConfigResource]*states.Dependencies, len(d.direct))
	var visit func(cr addrs.ConfigResource) *states.Dependencies
	visit = func(cr addrs.ConfigResource) *states.Dependencies {
		if s, ok := d.stored[cr]; ok {
			return s
		}
		d.stored[cr] = nil // a resource that mentions itself
		var deps []states.Dependency
		for _, x := range d.direct[cr] {
			deps = append(deps, states.Dependency{Resource: x, Further: visit(x)})
		}
		if d.imports {
			for _, x := range d.Imports(cr) {
				deps = append(deps, states.Dependency{Resource: x, Further: visit(x)})
			}
		}
		for _, x := range d.orphansOf(objectOf(cr)) {
			deps = append(deps, states.Dependency{Resource: x})
		}
		d.stored[cr] = states.DirectDependencies(deps)
		return d.stored[cr]
	}
	for cr := range d.direct {
		visit(cr)
	}
}

// CreateBeforeDestroy returns the blocks for which create-before-destroy is in
// force: by their own setting, or because something that depends on them, however
// far away, has it. What is created before the old one is destroyed needs its own
// dependencies' new ones before theirs are destroyed. Only the blocks in part count.
func (d *Dependencies) CreateBeforeDestroy(part func(addrs.ConfigResource) bool) map[addrs.ConfigResource]bool {
	forced := map[addrs.ConfigResource]bool{}
	for _, m := range d.cfg.Order {
		for _, r := range m.Resources {
			if cr := (addrs.ConfigResource{Module: m.Addr, Resource: r.Addr}); r.CreateBeforeDestroy && part(cr) {
				d.force(forced, cr)
			}
		}
	}
	return forced
}

// force adds a block, and what it depends on.
func (d *Dependencies) force(forced map[addrs.ConfigResource]bool, cr addrs.ConfigResource) {
	if forced[cr] {
		return
	}
	forced[cr] = true
	for _, x := range d.direct[cr] {
		d.force(forced, x)
	}
	if d.imports {
		for _, x := range d.Imports(cr) {
			d.force(forced, x)
		}
	}
}

// A Forcing says for which instances of which blocks create-before-destroy is in force: of
// those with a nil map, for all.
type Forcing map[addrs.ConfigResource]map[addrs.InstanceKey]bool

// Has reports whether create-before-destroy is in force for an instance.
func (f Forcing) Has(cr addrs.ConfigResource, key addrs.InstanceKey) bool {
	keys, ok := f[cr]
	return ok && (keys == nil || keys[key])
}

// Forcing is [Dependencies.CreateBeforeDestroy] by instance. Source: Terraform 1.11.4 plans by
// block, but keeps in the state what its apply finds, for which `a[0]` means that instance if
// there is one that it makes or leaves as it is, which there says, and all of them otherwise. What
// the provider configurations in destroyed refer to is forced, too: they look after objects that are
// to be destroyed and for which it was in force.
func (d *Dependencies) Forcing(there func(addrs.ConfigResource, addrs.InstanceKey) bool, destroyed []addrs.AbsProviderConfig) Forcing {
	out := Forcing{}
	blocks := d.CreateBeforeDestroy(func(addrs.ConfigResource) bool { return true })
	behind := d.behind(destroyed)
	for _, x := range behind {
		d.force(blocks, x)
	}
	for cr := range blocks {
		out[cr] = map[addrs.InstanceKey]bool{}
	}
	for _, x := range behind {
		out[x] = nil
	}
	for cr := range blocks {
		if m := d.cfg.Modules[cr.Module]; m != nil && m.Resources[cr.Resource] != nil && m.Resources[cr.Resource].CreateBeforeDestroy {
			out[cr] = nil
		}
		only := d.refs.OnlyInstances(objectOf(cr))
		for _, x := range d.direct[cr] {
			keys := only[objectOf(x)]
			if len(keys) == 0 {
				out[x] = nil
			}
			for _, k := range keys {
				switch {
				case !there(x, k):
					out[x] = nil
				case out[x] != nil:
					out[x][k] = true
				}
			}
		}
	}
	return out
}

// behind returns the resources that provider configurations refer to.
func (d *Dependencies) behind(list []addrs.AbsProviderConfig) []addrs.ConfigResource {
	var out []addrs.ConfigResource
	for _, pc := range list {
		if o, ok := d.Provider(pc); ok {
			out = append(out, d.Of(o)...)
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
