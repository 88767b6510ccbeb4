package planning

import (
	"context"
	"maps"
	"slices"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/config"
	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/engine/walk"
)

// A node is one stop of the walk.
type node struct {
	visit func(context.Context) diags.Diagnostics
	after []addrs.ConfigResource // resources to be planned before
}

// nodes are all stops, and where the one of each block is.
type nodes struct {
	list []node
	of   map[addrs.ConfigResource]int
}

// nodes makes a node for each resource block, and one for each resource of the
// state that has none.
func (p *planner) nodes() *nodes {
	n := &nodes{of: map[addrs.ConfigResource]int{}}
	configured := map[addrs.ConfigResource]bool{}
	for _, m := range p.in.Config.Order {
		for _, r := range slices.SortedFunc(maps.Keys(m.Resources), addrs.Resource.Compare) {
			cr := addrs.ConfigResource{Module: m.Addr, Resource: r}
			configured[cr] = true
			if p.included != nil && !p.included.objects[objectOf(cr)] {
				continue
			}
			n.of[cr] = len(n.list)
			n.list = append(n.list, node{visit: p.visitor(m, m.Resources[r]), after: p.deps.Direct(cr)})
		}
	}
	for a := range p.prior.Current().Resources() {
		cr := a.Config()
		p.byConfig[cr] = append(p.byConfig[cr], a)
	}
	for _, cr := range slices.SortedFunc(maps.Keys(p.byConfig), addrs.ConfigResource.Compare) {
		slices.SortFunc(p.byConfig[cr], addrs.AbsResource.Compare)
		if configured[cr] || cr.Resource.Mode == addrs.Ephemeral {
			continue
		}
		if p.included != nil && !p.included.hasOrphan(p, cr) {
			continue
		}
		n.list = append(n.list, node{visit: p.orphanVisitor(cr), after: p.orphanAfter(cr)})
	}
	return n
}

// visitor returns the visit of a block by its mode.
func (p *planner) visitor(m *config.Module, r *config.Resource) func(context.Context) diags.Diagnostics {
	switch r.Addr.Mode {
	case addrs.Data:
		return func(ctx context.Context) diags.Diagnostics { return p.visitData(ctx, m, r) }
	case addrs.Ephemeral:
		return func(ctx context.Context) diags.Diagnostics { return p.visitEphemeral(ctx, m, r) }
	}
	return func(ctx context.Context) diags.Diagnostics { return p.visitManaged(ctx, m, r) }
}

// orphanAfter returns what the provider configurations of orphans depend on.
func (p *planner) orphanAfter(cr addrs.ConfigResource) []addrs.ConfigResource {
	var out []addrs.ConfigResource
	for _, a := range p.byConfig[cr] {
		if o, ok := p.deps.Provider(p.prior.Current().Resource(a).Provider); ok {
			out = append(out, p.deps.Of(o)...)
		}
	}
	return out
}

// graph returns the order of visits.
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

// objectOf returns the object that a block is in the reference graph.
func objectOf(cr addrs.ConfigResource) addrs.Object {
	return addrs.Object{Module: cr.Module, Kind: addrs.KindResource, Res: cr.Resource}
}

// each visits n instances on the walk's places. What was not begun because the walk
// was interrupted is an error.
func each(ctx context.Context, n int, do func(context.Context, int)) diags.Diagnostics {
	if err := walk.Each(ctx, n, do); err != nil {
		return diags.Errorf(nil, "Planning was interrupted", "Nothing has been changed: %s.", err)
	}
	return nil
}
