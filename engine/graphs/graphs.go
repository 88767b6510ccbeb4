// Package graphs draws the graph of an operation in the form of Terraform's, for programs that read
// `terraform graph`. The graph has a node for each step that Terraform takes, under Terraform's name.
//
// The graph is only a picture. Planning and applying do not use it: they use packages refs and order. Its
// order of destroying follows Terraform's rules, which may produce cycles; package order avoids them. The
// package is pure, and refuses to know values and providers. Start at [Build].
//
// Source: the names and edges are those of Terraform 1.11, as internal/terraform of
// https://github.com/hashicorp/terraform makes them.
package graphs

import (
	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/config"
	"github.com/lockstep-iac/lockstep/engine/plans"
	"github.com/lockstep-iac/lockstep/engine/refs"
	"github.com/lockstep-iac/lockstep/engine/states"
)

// Operation is the operation whose graph is drawn.
type Operation byte

const (
	Plan        Operation = 'P' // also with -refresh-only
	PlanDestroy Operation = 'D'
	Apply       Operation = 'A'
)

// Input is everything that a graph depends on.
type Input struct {
	Operation Operation
	Config    *config.Config
	// State is the state before planning; for an apply, the prior state of the plan.
	State *states.State
	// Plan is the plan to apply; nil means a plan without changes. It is nil for other operations.
	Plan *plans.Plan
}

// builder makes a graph.
type builder struct {
	Input
	Graph
	destroying bool // everything is destroyed
	uses       map[*config.Content]*refs.Uses
	keys       map[key][]*node // the nodes that a reference may resolve to
	expanders  map[addrs.Module]*node
	closers    map[addrs.Module]*node
	resources  map[addrs.ConfigResource]*node
	providers  map[addrs.AbsProviderConfig]*node
	changes    map[addrs.AbsResourceInstance]*plans.ResourceChange
}

// Build makes the graph of an operation. The configuration need not be valid: a reference to a missing
// object makes no edge, and there may be cycles.
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
