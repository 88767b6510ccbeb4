package graphs

import (
	"maps"
	"slices"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/plans"
)

// delayChecks makes the data blocks in check blocks wait until all managed resources are created or updated.
// To shorten the graph, a data block gets edges only to the last of these resources. A resource is one of the
// last if no other managed resource waits for it.
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

// inCheck reports whether a resource's block is the data block of a check block.
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

// forceCreateFirst gives everything that a resource with create_before_destroy depends on the same setting.
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

// orderDestroys adds the edges of destroy nodes: an object is destroyed before its replacement is created,
// and after its dependents are destroyed or changed.
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
					if !inDifferentInstances(n, d) {
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

// tryAfter makes x come after n. If x and n have different providers and the edge would close a cycle, it
// adds no edge.
func (b *builder) tryAfter(x, n *node) {
	if inDifferentInstances(x, n) || x == n {
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

// storedDependencies returns the dependencies that the state stores for the instance of n. If the state has
// no object of the instance, it returns computed, the dependencies of its block.
func (b *builder) storedDependencies(n *node, computed map[addrs.ConfigResource][]addrs.ConfigResource) []addrs.ConfigResource {
	if in := b.State.Instance(*n.instance); in != nil && in.Current != nil {
		return in.Current.Dependencies.All()
	}
	return computed[*n.resource]
}

// computedDependencies returns, for each resource with a new instance, the resources that its block depends
// on. It lists only resources with an instance that is destroyed.
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

// createFirst reverses the edge between the creation and the destruction of each instance with
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

// prune reduces the graph to what a destroy needs: the destroy nodes, all nodes that they come after, and the
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

// keepTargets reduces the graph to the nodes of targets and all nodes that they come after. It also keeps the
// root outputs that depend only on resources kept for the targets.
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

// meansNode reports whether a target selects the instance of a node. For the node of a whole block, it
// reports whether the target may select an instance of the block.
func meansNode(t addrs.Target, n *node) bool {
	if n.instance != nil {
		return t.Contains(*n.instance)
	}
	if t.IsModule() {
		return t.Module.Module().Contains(n.resource.Module)
	}
	return t.Module.Module() == n.resource.Module && t.Resource == n.resource.Resource
}
