package graphs

import (
	"maps"
	"slices"

	"github.com/lockstep-iac/lockstep/engine/addrs"
)

// A Graph is a set of steps and their order.
type Graph struct {
	nodes []*node
}

// A node is one step.
type node struct {
	name string
	// label and shape are the node's DOT attributes. A node without a label appears only as an end of edges.
	label, shape string
	id           int // position in the order in which the nodes were added
	after        map[*node]bool
	before       map[*node]bool

	module  addrs.Module // module of the node; meaningless if outside is set
	outside bool         // the node belongs to no module
	// resource is the resource of the node, nil if it has none. instance is the instance, nil for the node of
	// a whole block.
	resource *addrs.ConfigResource
	instance *addrs.AbsResourceInstance
	provider *addrs.AbsProviderConfig // provider configuration that the node uses; nil if none
	creates  bool                     // creates, updates or reads an instance
	destroys bool
	refers   bool // the node's block may refer to other objects
	rootOut  bool // the node is an output of the root module
	// createFirst is the node's setting create_before_destroy. Only nodes with mayCreateFirst have the setting.
	createFirst, mayCreateFirst bool
}

// add adds a node to the graph, in a module.
func (g *Graph) add(m addrs.Module, name string) *node {
	n := &node{name: name, module: m, id: len(g.nodes), after: map[*node]bool{}, before: map[*node]bool{}}
	g.nodes = append(g.nodes, n)
	return n
}

// draw makes the node visible in DOT, with this label and shape.
func (n *node) draw(label, shape string) { n.label, n.shape = label, shape }

// connect makes a come after b.
func connect(a, b *node) {
	a.after[b] = true
	b.before[a] = true
}

func disconnect(a, b *node) {
	delete(a.after, b)
	delete(b.before, a)
}

// keep removes all nodes that are not in kept, with their edges.
func (g *Graph) keep(kept map[*node]bool) {
	g.nodes = slices.DeleteFunc(g.nodes, func(n *node) bool {
		if kept[n] {
			return false
		}
		for a := range n.after {
			delete(a.before, n)
		}
		for a := range n.before {
			delete(a.after, n)
		}
		return true
	})
}

// reach adds n, and every node that n comes after, directly or not, to found.
func reach(n *node, found map[*node]bool) {
	stack := []*node{n}
	for len(stack) > 0 {
		n, stack = stack[len(stack)-1], stack[:len(stack)-1]
		if !found[n] {
			found[n] = true
			for a := range n.after {
				if !found[a] {
					stack = append(stack, a)
				}
			}
		}
	}
}

// some reports whether f is true for any node of a set.
func some(set map[*node]bool, f func(*node) bool) bool {
	for n := range set {
		if f(n) {
			return true
		}
	}
	return false
}

// sorted returns the keys of a map, sorted.
func sorted[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
