package order

import "slices"

// components are the strongly connected components of a graph that loses edges. Tarjan's algorithm splits
// each of them again in every round.
type components struct {
	of     []int32 // by node: its component after the last round; 0 for nodes outside
	last   int32   // highest component number in use
	number []int32 // by node: when it was entered in this round
	low    []int32 // by node: earliest node known to be in the same component
	next   []int32 // by node: its component in this round, once known

	open  []int32
	calls []call
	left  []int32
}

// A call is a node being visited, and its next edge.
type call struct{ node, edge int32 }

// newComponents returns one component that consists of the given nodes. n is the number of nodes of the whole
// graph.
func newComponents(n int, nodes []int32) *components {
	c := &components{of: make([]int32, n), last: 1, number: make([]int32, n), low: make([]int32, n), next: make([]int32, n)}
	for _, x := range nodes {
		c.of[x] = 1
	}
	return c
}

// same reports whether two nodes are in one component.
func (c *components) same(x, y int32) bool { return c.of[x] == c.of[y] && c.of[x] != 0 }

// split splits the components that consist of the given nodes. It returns, in ascending order, the nodes of
// the new components that have more than one node. follow returns the node that the i-th edge of x leads to.
// same reports whether both are in one component and the edge still exists; ok is false if x has fewer edges.
func (c *components) split(nodes []int32, follow func(x, i int32) (y int32, same, ok bool)) []int32 {
	for _, x := range nodes {
		c.number[x], c.next[x] = 0, 0
	}
	c.left = nil
	counter := int32(0)
	enter := func(x int32) {
		counter++
		c.number[x], c.low[x] = counter, counter
		c.open = append(c.open, x)
		c.calls = append(c.calls, call{x, 0})
	}
	for _, root := range nodes {
		if c.number[root] == 0 {
			enter(root)
		}
		for len(c.calls) > 0 {
			at := &c.calls[len(c.calls)-1]
			x := at.node
			y, same, ok := follow(x, at.edge)
			at.edge++
			switch {
			case !ok:
				c.leave(x)
			case !same || c.next[y] != 0:
			case c.number[y] == 0:
				enter(y)
			default:
				c.low[x] = min(c.low[x], c.number[y])
			}
		}
	}
	for _, x := range nodes {
		c.of[x] = c.next[x]
	}
	slices.Sort(c.left)
	return c.left
}

// leave ends the visit of the node x, which is the last of the open calls. If x was the first visited node of
// its component, the component consists of x and all open nodes after x.
func (c *components) leave(x int32) {
	c.calls = c.calls[:len(c.calls)-1]
	if len(c.calls) > 0 {
		up := c.calls[len(c.calls)-1].node
		c.low[up] = min(c.low[up], c.low[x])
	}
	if c.low[x] < c.number[x] {
		return
	}
	c.last++
	size := 0
	for y := int32(-1); y != x; size++ {
		y = c.open[len(c.open)-1-size]
		c.next[y] = c.last
	}
	from := len(c.open) - size
	if size > 1 {
		c.left = append(c.left, c.open[from:]...)
	}
	c.open = c.open[:from]
}
