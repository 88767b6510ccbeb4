// Package dependencies finds which resources depend on which: by the configuration, and by the lists that are
// stored with objects. A resource may refer to its dependency through variables, local values, outputs,
// module calls and provider configurations. An object also depends on the dependencies of the provider
// configuration that manages it.
//
// It is pure. It handles blocks, not instances. It refuses to know values, and the order of steps (package
// order). Start at [New].
package dependencies

import (
	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/config"
	"github.com/lockstep-iac/lockstep/engine/refs"
	"github.com/lockstep-iac/lockstep/engine/states"
)

// A Graph has the dependencies of all resource blocks of a configuration. Call [Graph.IncludeImports] and
// [Graph.AddOrphans], which are optional, before any other method. After them the graph does not change, and
// is safe for concurrent use.
type Graph struct {
	cfg     *config.Config
	refs    *refs.Refs
	stored  map[addrs.ConfigResource]*states.Dependencies
	direct  map[addrs.ConfigResource][]addrs.ConfigResource
	orphans orphans
	imports bool // references of import blocks count as dependencies
}

// New computes the dependencies of all blocks of a configuration.
func New(cfg *config.Config, r *refs.Refs) *Graph {
	g := &Graph{cfg: cfg, refs: r, direct: map[addrs.ConfigResource][]addrs.ConfigResource{}}
	for _, m := range cfg.Order {
		for res := range m.Resources {
			cr := addrs.ConfigResource{Module: m.Addr, Resource: res}
			g.direct[cr] = g.Of(cr.Object())
		}
	}
	g.store()
	return g
}

// Of returns the resources that an object depends on directly, including those that its provider
// configuration depends on. The order is stable.
func (g *Graph) Of(o addrs.Object) []addrs.ConfigResource {
	var out []addrs.ConfigResource
	seen := map[addrs.Object]bool{o: true}
	var visit func(addrs.Object)
	visit = func(x addrs.Object) {
		for _, u := range g.refs.Resources(x) {
			if seen[u] {
				continue
			}
			seen[u] = true
			if u.Kind == addrs.KindProvider {
				visit(u)
			} else {
				out = append(out, u.ConfigResource())
			}
		}
	}
	visit(o)
	return out
}

// Direct returns the direct dependencies of a block: the result of [Graph.Of], computed once. The caller must
// not change the list.
func (g *Graph) Direct(cr addrs.ConfigResource) []addrs.ConfigResource { return g.direct[cr] }

// IncludeImports makes the references of import blocks count as dependencies, in [Graph.Stored] and
// [Graph.CreateBeforeDestroy]. Call it while imports are planned: an object that is only imported keeps these
// dependencies until it changes.
func (g *Graph) IncludeImports() {
	g.imports = true
	g.store()
}

// Imports returns the resources that import blocks refer to. It considers only the import blocks whose target
// is the resource cr.
func (g *Graph) Imports(cr addrs.ConfigResource) []addrs.ConfigResource {
	var out []addrs.ConfigResource
	for _, u := range g.refs.Imports(cr.Object()) {
		if u.Kind == addrs.KindResource {
			out = append(out, u.ConfigResource())
		} else {
			out = append(out, g.Of(u)...)
		}
	}
	return out
}

// Stored returns the dependencies to store with a block's objects. They include indirect ones.
func (g *Graph) Stored(cr addrs.ConfigResource) *states.Dependencies { return g.stored[cr] }

// store computes the stored dependencies of all blocks. Blocks share common parts of their lists.
func (g *Graph) store() {
	g.stored = make(map[addrs.ConfigResource]*states.Dependencies, len(g.direct))
	var visit func(cr addrs.ConfigResource) *states.Dependencies
	visit = func(cr addrs.ConfigResource) *states.Dependencies {
		if s, ok := g.stored[cr]; ok {
			return s
		}
		g.stored[cr] = nil // ends the recursion at a resource that refers to itself
		var deps []states.Dependency
		for _, x := range g.direct[cr] {
			deps = append(deps, states.Dependency{Resource: x, Further: visit(x)})
		}
		if g.imports {
			for _, x := range g.Imports(cr) {
				deps = append(deps, states.Dependency{Resource: x, Further: visit(x)})
			}
		}
		for _, x := range g.orphansOf(cr.Object()) {
			deps = append(deps, states.Dependency{Resource: x})
		}
		g.stored[cr] = states.DirectDependencies(deps)
		return g.stored[cr]
	}
	for cr := range g.direct {
		visit(cr)
	}
}

// Provider returns the block of a provider configuration; the result is false if it has no block.
func (g *Graph) Provider(pc addrs.AbsProviderConfig) (addrs.Object, bool) {
	m := g.cfg.Modules[pc.Module]
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

// OfProvider returns the resources that a provider configuration depends on; none if the configuration has no
// block.
func (g *Graph) OfProvider(pc addrs.AbsProviderConfig) []addrs.ConfigResource {
	if o, ok := g.Provider(pc); ok {
		return g.Of(o)
	}
	return nil
}
