package journaling

import (
	"slices"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/states"
)

// In a state file each object lists all its dependencies, also indirect ones, which is quadratic in a chain.
// Records store dependencies as a graph. A node is written with the first edit that needs it, and again with
// later edits until a record with the node is known to be stored. Node numbers count from 1 in each run; 0
// means no dependencies.

// A node has the dependencies of one object. The nodes are the dependency graph in the journal.
type node struct {
	Number int      `json:"n"`
	Direct []link   `json:"direct,omitempty"`
	Merged []int    `json:"merged,omitempty"`
	Listed []string `json:"listed,omitempty"`
}

// link is a direct dependency. Further is the number of the node with the dependencies of this dependency; 0
// means that it has none.
type link struct {
	Resource string `json:"r"`
	Further  int    `json:"f,omitempty"`
}

// graph numbers the nodes of a run. It is not safe for concurrent use.
type graph struct {
	numbers map[*states.Dependencies]int
	stored  map[int]bool
}

func newGraph() *graph {
	return &graph{numbers: map[*states.Dependencies]int{}, stored: map[int]bool{}}
}

// add returns the number of the node of d. It also returns nodes with the nodes appended that still have to be
// written.
func (g *graph) add(d *states.Dependencies, nodes []node) (int, []node) {
	if d == nil {
		return 0, nodes
	}
	n := g.numbers[d]
	if n == 0 {
		n = len(g.numbers) + 1
		g.numbers[d] = n
	}
	if g.stored[n] || slices.ContainsFunc(nodes, func(x node) bool { return x.Number == n }) {
		return n, nodes
	}
	at := len(nodes)
	nodes = append(nodes, node{Number: n})
	direct, merged, listed := d.Parts()
	x := node{Number: n}
	for _, dep := range direct {
		var further int
		further, nodes = g.add(dep.Further, nodes)
		x.Direct = append(x.Direct, link{dep.Resource.String(), further})
	}
	for _, m := range merged {
		var number int
		number, nodes = g.add(m, nodes)
		x.Merged = append(x.Merged, number)
	}
	for _, r := range listed {
		x.Listed = append(x.Listed, r.String())
	}
	nodes[at] = x
	return n, nodes
}

// graphs are the dependency graphs of a journal, one for each run.
type graphs struct {
	nodes map[string]map[int]node
	built map[string]map[int]*states.Dependencies
}

func newGraphs() *graphs {
	return &graphs{map[string]map[int]node{}, map[string]map[int]*states.Dependencies{}}
}

func (g *graphs) add(run string, nodes []node) {
	if g.nodes[run] == nil {
		g.nodes[run], g.built[run] = map[int]node{}, map[int]*states.Dependencies{}
	}
	for _, x := range nodes {
		g.nodes[run][x.Number] = x
	}
}

// build returns the dependencies of a node. A missing node, which only a damaged journal has, means no
// dependencies.
func (g *graphs) build(run string, n int) (*states.Dependencies, error) {
	x, ok := g.nodes[run][n]
	if !ok {
		return nil, nil
	}
	if d, ok := g.built[run][n]; ok {
		return d, nil
	}
	g.built[run][n] = nil // ends the recursion: a journal edited by hand may have a cycle
	var direct []states.Dependency
	for _, l := range x.Direct {
		r, err := addrs.ParseConfigResource(l.Resource)
		if err != nil {
			return nil, err
		}
		further, err := g.build(run, l.Further)
		if err != nil {
			return nil, err
		}
		direct = append(direct, states.Dependency{Resource: r, Further: further})
	}
	for _, name := range x.Listed {
		r, err := addrs.ParseConfigResource(name)
		if err != nil {
			return nil, err
		}
		direct = append(direct, states.Dependency{Resource: r})
	}
	d := states.DirectDependencies(direct)
	for _, m := range x.Merged {
		other, err := g.build(run, m)
		if err != nil {
			return nil, err
		}
		d = states.MergeDependencies(d, other)
	}
	g.built[run][n] = d
	return d, nil
}
