package graphs

import (
	"slices"

	"github.com/lockstep-iac/lockstep/engine/addrs"
)

// closeEphemerals adds a node that closes each ephemeral resource. It comes after all nodes that use the
// resource.
func (b *builder) closeEphemerals() {
	for _, n := range slices.Clone(b.nodes) {
		if n.resource == nil || n.resource.Resource.Mode != addrs.Ephemeral {
			continue
		}
		end := b.add(addrs.RootModule, n.resource.String()+" (close)")
		end.provider = n.provider
		users := map[*node]bool{}
		descendants(n, users)
		connect(end, n)
		for x := range users {
			if x.refers && x != end && !some(x.before, func(y *node) bool { return y.refers }) {
				connect(end, x)
			}
		}
	}
}

// descendants adds every node that comes after n, directly or not, to found.
func descendants(n *node, found map[*node]bool) {
	for x := range n.before {
		if !found[x] {
			found[x] = true
			descendants(x, found)
		}
	}
}

// closeProviders adds a node that closes each provider configuration. It comes after all nodes that use the
// configuration.
func (b *builder) closeProviders() {
	ends := map[addrs.AbsProviderConfig]*node{}
	for _, n := range slices.Clone(b.nodes) {
		if n.provider == nil {
			continue
		}
		end := ends[*n.provider]
		if end == nil {
			end = b.add(addrs.RootModule, n.provider.String()+" (close)")
			ends[*n.provider] = end
			connect(end, b.providers[*n.provider])
		}
		connect(end, n)
	}
}

// closeRoot adds the last node of the graph, "root". It comes after every node that had no successor.
func (b *builder) closeRoot() {
	var last []*node
	for _, n := range b.nodes {
		if len(n.before) == 0 {
			last = append(last, n)
		}
	}
	root := b.add(addrs.RootModule, "root")
	for _, n := range last {
		connect(root, n)
	}
}
