// Package blastradius finds what depends on the changes of a plan: objects that stay as they are, but use what is
// updated, replaced or destroyed, directly or not.
//
// The package works with resources, not with single instances: if one instance of a resource changes, everything
// that depends on the resource counts. It knows the dependencies that planning has found. An object without
// configuration has the dependencies that the state stores. The package does not know other states. Start at [Of].
package blastradius

import (
	"cmp"
	"maps"
	"slices"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/plans"
	"github.com/lockstep-iac/lockstep/engine/states"
)

// A Radius is what depends on the changes of a plan. The zero Radius means that nothing does.
type Radius struct {
	// Objects is the number of objects that do not change, and depend on objects that do.
	Objects int
	// Nodes are the changed resources on which others depend, and all that depend on them, sorted by address.
	Nodes []Node
	// Edges are pairs of indices of Nodes: the second resource depends on the first one directly. They are sorted.
	Edges [][2]int
}

// A Node is a resource.
type Node struct {
	Resource addrs.ConfigResource
	// Objects is the number of objects of the resource.
	Objects int
	// Action is the worst action on one of the objects; NoOp if none of them changes.
	Action plans.Action
}

// A resource is what a plan and its prior state have of a resource.
type resource struct {
	Node
	unchanged int // objects
	needs     map[addrs.ConfigResource]bool
}

// Of returns what depends on the changes of a plan. New objects do not count as changes: nothing used them before.
func Of(p *plans.Plan) Radius {
	all := resources(p)
	users := map[addrs.ConfigResource][]addrs.ConfigResource{}
	for cr, r := range all {
		for need := range r.needs {
			if need != cr && all[need] != nil {
				users[need] = append(users[need], cr)
			}
		}
	}
	reached := map[addrs.ConfigResource]bool{} // what depends on a changed resource
	var next []addrs.ConfigResource
	for cr, r := range all {
		if rank(r.Action) > rank(plans.Create) {
			next = append(next, users[cr]...)
		}
	}
	for len(next) > 0 {
		cr := next[len(next)-1]
		if next = next[:len(next)-1]; !reached[cr] {
			reached[cr] = true
			next = append(next, users[cr]...)
		}
	}
	var out Radius
	at := map[addrs.ConfigResource]int{}
	for _, cr := range slices.SortedFunc(maps.Keys(all), addrs.ConfigResource.Compare) {
		root := rank(all[cr].Action) > rank(plans.Create) && len(users[cr]) > 0
		if root || reached[cr] {
			at[cr] = len(out.Nodes)
			out.Nodes = append(out.Nodes, all[cr].Node)
		}
		if reached[cr] {
			out.Objects += all[cr].unchanged
		}
	}
	for cr, i := range at {
		for _, user := range users[cr] {
			out.Edges = append(out.Edges, [2]int{i, at[user]})
		}
	}
	slices.SortFunc(out.Edges, func(a, b [2]int) int { return cmp.Or(cmp.Compare(a[0], b[0]), cmp.Compare(a[1], b[1])) })
	return out
}

// Reduced returns the edges that a picture of a few nodes needs. It leaves out an edge from a to b if other edges lead
// from a to b. If there is a cycle, it returns all edges.
func (r Radius) Reduced() (out [][2]int) {
	next := make([][]int, len(r.Nodes))
	for _, e := range r.Edges {
		next[e[0]] = append(next[e[0]], e[1])
	}
	reach := make([]map[int]bool, len(r.Nodes)) // by at least one edge
	for i := range r.Nodes {
		reach[i] = map[int]bool{}
		stack := slices.Clone(next[i])
		for len(stack) > 0 {
			n := stack[len(stack)-1]
			if stack = stack[:len(stack)-1]; !reach[i][n] {
				reach[i][n] = true
				stack = append(stack, next[n]...)
			}
		}
		if reach[i][i] {
			return r.Edges
		}
	}
	for _, e := range r.Edges {
		if !slices.ContainsFunc(next[e[0]], func(n int) bool { return reach[n][e[1]] }) {
			out = append(out, e)
		}
	}
	return out
}

// rank orders actions, the worst last.
func rank(a plans.Action) int {
	return slices.Index([]plans.Action{plans.Read, plans.Forget, plans.NoOp, plans.Create, plans.Update, plans.CreateThenDelete, plans.DeleteThenCreate, plans.Delete}, a)
}

// resources returns the managed resources of a plan and its prior state.
func resources(p *plans.Plan) map[addrs.ConfigResource]*resource {
	out := map[addrs.ConfigResource]*resource{}
	add := func(cr addrs.ConfigResource, a plans.Action, needs ...[]addrs.ConfigResource) {
		r := out[cr]
		if r == nil {
			r = &resource{Node: Node{Resource: cr, Action: plans.NoOp}, needs: map[addrs.ConfigResource]bool{}}
			out[cr] = r
		}
		if r.Objects++; a == plans.NoOp {
			r.unchanged++
		}
		if rank(a) > rank(r.Action) {
			r.Action = a
		}
		for _, list := range needs {
			for _, need := range list {
				r.needs[need] = true
			}
		}
	}
	planned := map[addrs.AbsResourceInstance]bool{}
	for _, c := range p.Changes {
		planned[c.Addr.Instance] = true
		if c.Addr.Instance.Resource.Resource.Mode != addrs.Managed {
			continue
		}
		needs := c.ConfigDeps
		if len(needs) == 0 && c.StoredDeps != nil {
			needs = direct(c.StoredDeps)
		}
		add(c.Addr.Instance.Config(), c.Action, needs)
	}
	if p.PriorState == nil {
		return out
	}
	for abs, r := range p.PriorState.Resources() { // with targets, the plan leaves objects out
		for key, in := range r.Instances {
			if abs.Resource.Mode == addrs.Managed && in.Current != nil && !planned[abs.Instance(key)] {
				add(abs.Config(), plans.NoOp, direct(in.Current.Dependencies))
			}
		}
	}
	return out
}

// direct returns the dependencies that a state has stored with an object, without those of the dependencies if the
// state tells them apart.
func direct(d *states.Dependencies) []addrs.ConfigResource {
	return d.Until(func(states.Dependency) bool { return true })
}
