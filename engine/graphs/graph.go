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
	// label and shape say how the node is drawn; without a label it is only where edges end.
	label, shape string
	id           int // in the order of their making
	after        map[*node]bool
	before       map[*node]bool

	module  addrs.Module // where the node is, unless it is everywhere
	outside bool         // of all modules
	// resource is set for nodes of resources, instance besides for those of instances.
	resource *addrs.ConfigResource
	instance *addrs.AbsResourceInstance
	provider *addrs.AbsProviderConfig // that it uses
	creates  bool                     // or updates, or reads
	destroys bool
	refers   bool // it is of a kind that may refer to others
	rootOut  bool // it is an output of the root module
	// createFirst is create_before_destroy, as far as that means anything for the node.
	createFirst, mayCreateFirst bool
}

// add makes a node in a module.
func (g *Graph) add(m addrs.Module, name string) *node {
	n := &node{name: name, module: m, id: len(g.nodes), after: map[*node]bool{}, before: map[*node]bool{}}
	g.nodes = append(g.nodes, n)
	return n
}

// draw gives a node its looks.
func (n *node) draw(label, shape string) { n.label, n.shape = label, shape }

// connect puts a after b.
func connect(a, b *node) {
	a.after[b] = true
	b.before[a] = true
}

func disconnect(a, b *node) {
	delete(a.after, b)
	delete(b.before, a)
}

// keep removes all nodes but some.
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

// reach adds n, and all that n comes after, to found.
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

// some reports whether f holds for any node of a set.
func some(set map[*node]bool, f func(*node) bool) bool {
	for n := range set {
		if f(n) {
			return true
		}
	}
	return false
}

// sorted returns the keys of a set of names in order.
func sorted[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
