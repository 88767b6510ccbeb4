// Package graphs draws the graph of an operation in the form that Terraform gives it: with
// a node for each step that Terraform takes, under Terraform's names, so that what reads
// `terraform graph` can read it.
//
// It is a picture and nothing else: planning and applying know no such nodes, and go by
// package refs and package order. It follows Terraform's rules for the order of destroying
// where those of package order differ: there, what would be a circle in Terraform is taken
// apart. It is pure, and refuses to know values and providers. Start at [Build].
//
// The names and edges are those of Terraform 1.11, as internal/terraform of
// https://github.com/hashicorp/terraform makes them.
package graphs

import (
	"maps"
	"slices"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/config"
	"github.com/lockstep-iac/lockstep/engine/plans"
	"github.com/lockstep-iac/lockstep/engine/refs"
	"github.com/lockstep-iac/lockstep/engine/states"
)

// Operation is what a graph is of.
type Operation byte

const (
	Plan        Operation = 'P' // with -refresh-only, too
	PlanDestroy Operation = 'D'
	Apply       Operation = 'A'
)

// Input is what the graph of an operation is made from.
type Input struct {
	Operation Operation
	Config    *config.Config
	// State is what planning starts from; of an apply, the prior state of the plan.
	State *states.State
	// Plan is what is applied; nil is a plan without changes. Only an apply has one.
	Plan *plans.Plan
}

// A Graph says which step comes after which others.
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
	mentions bool // it is of a kind that may refer to others
	rootOut  bool // it is an output of the root module
	// createFirst is create_before_destroy, as far as that means anything for the node.
	createFirst, mayCreateFirst bool
}

// builder makes a graph.
type builder struct {
	Input
	Graph
	destroying bool // everything
	uses       map[*config.Content]*refs.Uses
	keys       map[key][]*node // what references can mean
	expanders  map[addrs.Module]*node
	closers    map[addrs.Module]*node
	resources  map[addrs.ConfigResource]*node
	providers  map[addrs.AbsProviderConfig]*node
	changes    map[addrs.AbsResourceInstance]*plans.ResourceChange
}

// Build makes the graph of an operation. The configuration need not be valid: what
// mentions something that does not exist has no edge for that, and there may be circles.
func Build(in Input) *Graph {
	if in.State == nil {
		in.State = states.Empty()
	}
	b := &builder{
		Input: in, uses: map[*config.Content]*refs.Uses{}, keys: map[key][]*node{},
		destroying: in.Operation == PlanDestroy || in.Plan != nil && in.Plan.Mode == plans.DestroyMode,
		expanders:  map[addrs.Module]*node{}, closers: map[addrs.Module]*node{}, resources: map[addrs.ConfigResource]*node{},
		providers: map[addrs.AbsProviderConfig]*node{}, changes: map[addrs.AbsResourceInstance]*plans.ResourceChange{},
	}
	for _, m := range in.Config.Order {
		if b.uses[m.Content] == nil {
			b.uses[m.Content] = refs.FindUses(m.Content)
		}
		b.declare(m)
	}
	if in.Operation == Apply {
		b.planned()
	} else {
		b.stored()
	}
	b.orphanOutputs()
	b.useProviders()
	b.removedModules()
	b.expandModules()
	b.refer()
	if in.Operation == Apply {
		b.forceCreateFirst()
	}
	b.orderDestroys()
	if in.Operation == Apply {
		b.createFirst()
	}
	if b.destroying {
		b.prune()
	}
	if in.Plan != nil && len(in.Plan.Targets) > 0 {
		b.keepTargets(in.Plan.Targets)
	}
	b.closeEphemerals()
	if in.Operation == Apply {
		b.delayChecks()
	}
	b.closeProviders()
	b.closeRoot()
	b.reduce()
	return &b.Graph
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
