package planning

import (
	"context"
	"maps"
	"slices"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/engine/plans"
	"github.com/lockstep-iac/lockstep/engine/walk"
)

// The graph of the walk has no cycles: its edges are the references of package refs, which has refused
// cycles, and resources that only the state has refer to nothing and wait for providers alone. An edge to
// a node that is left out counts as satisfied. Edges through named values and module calls
// were resolved to resources before (package dependencies), so that the nodes are resources only.

// A node is one stop of the walk.
type node struct {
	visits []visit                // one after the other, until one fails
	after  []addrs.ConfigResource // resources to be planned before
	of     addrs.Provider         // the one that the visits call
}

// A visit plans a resource.
type visit func(context.Context) diags.Diagnostics

// nodes are all stops, and where the one of each block is.
type nodes struct {
	list []node
	of   map[addrs.ConfigResource]int
}

// nodes makes a node for each resource block, and one for each resource of the state without one.
//
// Those without a block wait for the dependencies of their provider configuration only, which has to be
// opened to refresh and delete them; their own references are gone with their block. A node without a
// visit, because it is not selected, is left out: its dependents find its value in the state.
// References of import blocks order the visits as well, since an ID may be an attribute of another
// resource. The list is sorted, so that with one call at a time plans make the same calls in the same
// order.
func (p *planner) nodes() *nodes {
	n := &nodes{of: map[addrs.ConfigResource]int{}}
	configured, inhabited := map[addrs.ConfigResource]bool{}, map[addrs.ConfigResource]bool{}
	for a, r := range p.prior.State().Resources() {
		cr := a.Config()
		p.inState[cr] = append(p.inState[cr], a)
		if len(r.Instances) > 0 { // the stock tool has no node for another one
			inhabited[cr] = true
		}
	}
	p.deps.AddOrphans(slices.Collect(maps.Keys(inhabited)))
	for _, m := range p.in.Config.Order {
		for _, r := range slices.SortedFunc(maps.Keys(m.Resources), addrs.Resource.Compare) {
			cr := addrs.ConfigResource{Module: m.Addr, Resource: r}
			configured[cr] = true
			visits := p.visits(cr, func(ctx context.Context) diags.Diagnostics { return p.visitBlock(ctx, m, m.Resources[r]) }, p.selected.hasBlock(cr))
			if len(visits) > 0 {
				n.of[cr] = len(n.list)
				after := p.deps.Direct(cr)
				if more := p.deps.Imports(cr); more != nil {
					after = slices.Concat(after, more)
				}
				n.list = append(n.list, node{visits: visits, after: after, of: m.ResourceUse(m.Resources[r]).Config.Provider})
			}
		}
	}
	for _, cr := range slices.SortedFunc(maps.Keys(p.inState), addrs.ConfigResource.Compare) {
		slices.SortFunc(p.inState[cr], addrs.AbsResource.Compare)
		if configured[cr] || cr.Resource.Mode == addrs.Ephemeral {
			continue
		}
		visits := p.visits(cr, p.orphanVisitor(cr), p.selected.hasAny(p.inState[cr], p.prior.State()))
		if len(visits) > 0 {
			n.list = append(n.list, node{visits: visits, after: p.orphanAfter(cr), of: p.prior.State().Resource(p.inState[cr][0]).Provider.Provider})
		}
	}
	return n
}

// visits returns the visits of a resource. In a plan that destroys, the usual visit comes first if the
// resource is selected, then its destruction.
func (p *planner) visits(cr addrs.ConfigResource, usual visit, included bool) []visit {
	if p.in.Mode != plans.DestroyMode {
		if included {
			return []visit{usual}
		}
		return nil
	}
	var out []visit
	if included && p.usual() {
		out = append(out, usual)
	}
	if cr.Resource.Mode == addrs.Managed && p.toDestroy.hasAny(p.inState[cr], p.prior.State()) {
		out = append(out, func(ctx context.Context) diags.Diagnostics { return p.destroy(ctx, cr) })
	}
	return out
}

// orphanAfter returns the dependencies of the provider configurations of an orphan. Its provider block may
// refer to resources that are planned in the same walk; the orphan must not be deleted with half of a
// configuration.
func (p *planner) orphanAfter(cr addrs.ConfigResource) []addrs.ConfigResource {
	var out []addrs.ConfigResource
	for _, a := range p.inState[cr] {
		if o, ok := p.deps.Provider(p.prior.State().Resource(a).Provider); ok {
			out = append(out, p.deps.Of(o)...)
		}
	}
	return out
}

// provider returns the provider that the visits of a node call.
func (n *nodes) provider(i int) addrs.Provider { return n.list[i].of }

// graph returns the order of visits. A block may be its own predecessor, by a reference to its own resource. That is an
// error of the block, which its visit reports: an edge for it would be a cycle.
func (n *nodes) graph() walk.Graph {
	after := make([][]int32, len(n.list))
	for i := range n.list {
		for _, cr := range n.list[i].after {
			if j, ok := n.of[cr]; ok && j != i {
				after[i] = append(after[i], int32(j))
			}
		}
	}
	return walk.Graph{N: len(n.list), After: after}
}
