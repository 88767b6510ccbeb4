package dependencies

import (
	"github.com/lockstep-iac/lockstep/engine/addrs"
)

// CreateBeforeDestroy returns the blocks whose objects must be created before their predecessors are destroyed.
// A block is in the result in two cases:
//
//   - The block itself has the setting create_before_destroy, and the function part returns true for the block.
//   - Another block in the result depends on it, directly or not. Its new object is needed when the new object
//     of the dependent block is created, before anything old is destroyed.
func (g *Graph) CreateBeforeDestroy(part func(addrs.ConfigResource) bool) map[addrs.ConfigResource]bool {
	forced := map[addrs.ConfigResource]bool{}
	for _, m := range g.cfg.Order {
		for _, r := range m.Resources {
			if cr := (addrs.ConfigResource{Module: m.Addr, Resource: r.Addr}); r.CreateBeforeDestroy && part(cr) {
				g.force(forced, cr)
			}
		}
	}
	return forced
}

// force adds a block to forced, with all its dependencies, direct and indirect.
func (g *Graph) force(forced map[addrs.ConfigResource]bool, cr addrs.ConfigResource) {
	if forced[cr] {
		return
	}
	forced[cr] = true
	for _, x := range g.direct[cr] {
		g.force(forced, x)
	}
	if g.imports {
		for _, x := range g.Imports(cr) {
			g.force(forced, x)
		}
	}
}

// Forced has the instances for which create-before-destroy is in effect, by block. If the set of keys of a
// block is nil, all its instances are meant.
type Forced map[addrs.ConfigResource]map[addrs.InstanceKey]bool

// Has reports whether create-before-destroy is in effect for an instance.
func (f Forced) Has(cr addrs.ConfigResource, key addrs.InstanceKey) bool {
	keys, ok := f[cr]
	return ok && (keys == nil || keys[key])
}

// ForcedInstances is [Graph.CreateBeforeDestroy] for single instances, as an apply stores the setting. A
// reference `a[0]` in a block with create-before-destroy forces the setting on this instance alone if
// remains(a, 0) is true: the apply makes this instance, or leaves it unchanged. Otherwise the reference forces
// it on all instances of a.
//
// destroyers are provider configurations that destroy objects with create-before-destroy. The resources that
// these configurations depend on also get the setting.
// Source: Terraform 1.11.4, which plans by block, but stores the setting by the graph of its apply.
func (g *Graph) ForcedInstances(remains func(addrs.ConfigResource, addrs.InstanceKey) bool, destroyers []addrs.AbsProviderConfig) Forced {
	out := Forced{}
	blocks := g.CreateBeforeDestroy(func(addrs.ConfigResource) bool { return true })
	var behind []addrs.ConfigResource
	for _, pc := range destroyers {
		behind = append(behind, g.OfProvider(pc)...)
	}
	for _, x := range behind {
		g.force(blocks, x)
	}
	for cr := range blocks {
		out[cr] = map[addrs.InstanceKey]bool{}
	}
	for _, x := range behind {
		out[x] = nil
	}
	for cr := range blocks {
		if m := g.cfg.Modules[cr.Module]; m != nil && m.Resources[cr.Resource] != nil && m.Resources[cr.Resource].CreateBeforeDestroy {
			out[cr] = nil
		}
		only := g.refs.OnlyInstances(cr.Object())
		for _, x := range g.direct[cr] {
			keys := only[x.Object()]
			if len(keys) == 0 {
				out[x] = nil
			}
			for _, k := range keys {
				switch {
				case !remains(x, k):
					out[x] = nil
				case out[x] != nil:
					out[x][k] = true
				}
			}
		}
	}
	return out
}
