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

// The graph of the walk has no cycles. Its edges are the references of package refs, which refuses cycles.
// Resources that only the state has refer to nothing, and wait only for providers. An edge to a node that is
// left out counts as satisfied. References through named values and module calls are resolved to resources
// beforehand (package dependencies), so the nodes are only resources.

// A node is a resource to plan in the walk.
type node struct {
	visits []visit                // run one after the other, until one fails
	after  []addrs.ConfigResource // resources that must be planned first
	of     addrs.Provider         // the provider that the visits call
}

// A visit plans a resource.
type visit func(context.Context) diags.Diagnostics

// nodes are all nodes of the walk, with the index of each block's node.
type nodes struct {
	list []node
	of   map[addrs.ConfigResource]int
}

// nodes makes a node for each resource block, and for each resource of the state without a block.
//
// Resources without a block wait only for the dependencies of their provider configuration, which must be
// opened to refresh and delete them; they have no references of their own. A node without a visit, because it
// is not selected, is left out: its dependents use its value in the state. References of import blocks also
// order the visits, since an ID may be an attribute of another resource. The list is sorted, so that with one
// call at a time, plans make the same calls in the same order.
func (p *planner) nodes() *nodes {
	n := &nodes{of: map[addrs.ConfigResource]int{}}
	configured, inhabited := map[addrs.ConfigResource]bool{}, map[addrs.ConfigResource]bool{}
	for a, r := range p.prior.State().Resources() {
		cr := a.Config()
		p.inState[cr] = append(p.inState[cr], a)
		if len(r.Instances) > 0 { // as in the stock tool, resources without instances have no node
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

// visits returns the visits of a resource. In most plans this is the visit usual, if the resource is included.
// In a plan that destroys, usual may come first, to refresh the objects of the resource. Then comes the visit
// that destroys them.
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

// orphanAfter returns the dependencies of an orphan's provider configurations. The provider block may refer
// to resources that are planned in the same walk. The orphan must not be deleted with an incomplete provider
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

// graph returns the order of visits. It leaves out the edge of a block that refers to itself, since this
// would be a cycle: the block's visit reports the error.
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
