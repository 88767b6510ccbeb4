package graphs

import (
	"maps"
	"slices"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/plans"
)

// delayChecks lets data blocks in check blocks wait until all resources are as they should
// be. It is enough to wait for those that no other resource comes after directly.
func (b *builder) delayChecks() {
	if b.destroying {
		return
	}
	var last, nested []*node
	for _, n := range b.nodes {
		switch {
		case !n.creates:
		case n.resource.Resource.Mode == addrs.Managed:
			if !some(n.before, func(x *node) bool { return x.creates && x.resource.Resource.Mode == addrs.Managed }) {
				last = append(last, n)
			}
		case b.inCheck(*n.resource):
			nested = append(nested, n)
		}
	}
	if len(nested) == 0 {
		return
	}
	start := b.add(addrs.RootModule, "(execute checks)")
	start.outside = true
	for _, n := range nested {
		connect(n, start)
	}
	for _, n := range last {
		connect(start, n)
	}
}

// inCheck reports whether a block stands in a check block.
func (b *builder) inCheck(cr addrs.ConfigResource) bool {
	r := b.block(cr)
	if r == nil {
		return false
	}
	for _, c := range b.Config.Modules[cr.Module].Checks {
		if c.Data == r {
			return true
		}
	}
	return false
}

// forceCreateFirst makes create_before_destroy hold for whatever something depends on for
// which it holds.
func (b *builder) forceCreateFirst() {
	found := map[*node]bool{}
	for _, n := range b.nodes {
		if n.mayCreateFirst && n.createFirst {
			reach(n, found)
		}
	}
	for n := range found {
		n.createFirst = n.mayCreateFirst
	}
}

// orderDestroys adds the edges of destroying: an object is destroyed before its replacement is
// created, and after its dependents are destroyed or changed.
func (b *builder) orderDestroys() {
	destroyers := map[addrs.AbsResourceInstance][]*node{}
	byResource, creators := map[addrs.ConfigResource][]*node{}, map[addrs.ConfigResource][]*node{}
	for _, n := range b.nodes {
		switch {
		case n.destroys:
			destroyers[*n.instance] = append(destroyers[*n.instance], n)
			byResource[*n.resource] = append(byResource[*n.resource], n)
		case n.creates && b.changes[*n.instance].Action != plans.NoOp:
			creators[*n.resource] = append(creators[*n.resource], n)
		}
	}
	if len(destroyers) == 0 {
		return
	}
	computed := b.computedDependencies(creators, byResource)
	for _, n := range b.nodes {
		switch {
		case n.creates:
			for _, d := range destroyers[*n.instance] {
				connect(n, d)
			}
			if b.changes[*n.instance].Action == plans.NoOp {
				continue
			}
			for _, r := range b.storedDependencies(n, computed) {
				for _, d := range byResource[r] {
					if !apart(n, d) {
						connect(n, d)
					}
				}
			}
		case n.destroys:
			for _, r := range b.storedDependencies(n, nil) {
				for _, x := range byResource[r] {
					b.tryAfter(x, n)
				}
				for _, x := range creators[r] {
					b.tryAfter(x, n)
				}
			}
		}
	}
}

// tryAfter puts x after n, unless they have different providers and the edge would close a cycle.
func (b *builder) tryAfter(x, n *node) {
	if apart(x, n) || x == n {
		return
	}
	if !b.destroying && x.provider != nil && n.provider != nil && x.provider.Provider != n.provider.Provider {
		found := map[*node]bool{}
		if reach(n, found); found[x] {
			return
		}
	}
	connect(x, n)
}

// storedDependencies returns the stored dependencies of an instance; without an object, those of its
// block.
func (b *builder) storedDependencies(n *node, computed map[addrs.ConfigResource][]addrs.ConfigResource) []addrs.ConfigResource {
	if in := b.State.Instance(*n.instance); in != nil && in.Current != nil {
		return in.Current.Dependencies.All()
	}
	return computed[*n.resource]
}

// computedDependencies returns which of the resources that something of is destroyed the
// blocks of new instances depend on.
func (b *builder) computedDependencies(creators, destroyed map[addrs.ConfigResource][]*node) map[addrs.ConfigResource][]addrs.ConfigResource {
	out := map[addrs.ConfigResource][]addrs.ConfigResource{}
	for cr, list := range creators {
		i := slices.IndexFunc(list, func(n *node) bool {
			in := b.State.Instance(*n.instance)
			return in == nil || in.Current == nil
		})
		if i < 0 {
			continue
		}
		found, seen := map[*node]bool{}, map[addrs.ConfigResource]bool{cr: true}
		reach(list[i], found)
		for n := range found {
			if n.resource != nil && !seen[*n.resource] && destroyed[*n.resource] != nil {
				seen[*n.resource] = true
				out[cr] = append(out[cr], *n.resource)
			}
		}
	}
	return out
}

// createFirst reverses the edges between creation and destruction of an instance with
// create_before_destroy.
func (b *builder) createFirst() {
	for _, d := range b.nodes {
		if !d.destroys || !d.mayCreateFirst || !d.createFirst {
			continue
		}
		for _, n := range slices.Collect(maps.Keys(d.before)) {
			if n.creates {
				disconnect(n, d)
				connect(d, n)
			}
		}
	}
}

// prune keeps the nodes that a destroy needs: those that destroy, with all they come after, and the
// root outputs.
func (b *builder) prune() {
	kept := map[*node]bool{}
	for _, n := range b.nodes {
		if n.rootOut {
			kept[n] = true
		}
	}
	found := map[*node]bool{}
	for _, n := range b.nodes {
		if n.destroys {
			reach(n, found)
		}
	}
	for n := range found {
		kept[n] = true
	}
	b.keep(kept)
}

// keepTargets keeps the nodes of targets, with all they come after, and the root outputs that depend
// on resources of these only.
func (b *builder) keepTargets(targets []addrs.Target) {
	kept := map[*node]bool{}
	for _, n := range b.nodes {
		if n.resource != nil && slices.ContainsFunc(targets, func(t addrs.Target) bool { return meansNode(t, n) }) {
			reach(n, kept)
		}
	}
	for _, n := range b.nodes {
		if !n.rootOut {
			continue
		}
		found, any, all := map[*node]bool{}, false, true
		reach(n, found)
		for x := range found {
			if x.resource != nil {
				any, all = true, all && kept[x]
			}
		}
		if any && all {
			reach(n, kept)
		}
	}
	b.keep(kept)
}

// meansNode reports whether a target means a node of an instance, or may mean an instance
// of the block of a node.
func meansNode(t addrs.Target, n *node) bool {
	if n.instance != nil {
		return t.Contains(*n.instance)
	}
	if t.IsModule() {
		return t.Module.Module().Contains(n.resource.Module)
	}
	return t.Module.Module() == n.resource.Module && t.Resource == n.resource.Resource
}
