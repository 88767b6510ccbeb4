package walk

import "fmt"

// findCycle returns the nodes of a cycle: each comes after the next one, and the last comes after the first.
// It returns nil if g has no cycle.
func findCycle(g Graph) []int {
	inOrder := make([]bool, g.N)
	order, _ := sorted(g)
	for _, n := range order {
		inOrder[n] = true
	}
	// Each remaining node comes after another remaining node. Following these edges must therefore reach a
	// node again.
	seen := make([]int, g.N)
	var path []int
	for n := range g.N {
		if inOrder[n] {
			continue
		}
		for seen[n] == 0 {
			path = append(path, n)
			seen[n] = len(path)
			n = leftOver(g, n, inOrder)
		}
		return path[seen[n]-1:]
	}
	return nil
}

// leftOver returns a node that n comes after, and that is not in the order.
func leftOver(g Graph, n int, inOrder []bool) int {
	for _, m := range g.After[n] {
		if !inOrder[m] {
			return int(m)
		}
	}
	panic("walk: a node is left over that comes after none such")
}

// sorted returns the nodes in an order that the graph allows, and the successors of each node. The order
// lacks the nodes on a cycle and the nodes that come after them.
func sorted(g Graph) (order []int32, next successors) {
	waits, next := links(g)
	order = make([]int32, 0, g.N)
	for n := range g.N {
		if waits[n] == 0 {
			order = append(order, int32(n))
		}
	}
	for i := 0; i < len(order); i++ {
		for _, m := range next.of(order[i]) {
			if waits[m]--; waits[m] == 0 {
				order = append(order, m)
			}
		}
	}
	return order, next
}

// successors are the reversed edges of a graph. They need only two slices, for any number of nodes.
type successors struct {
	start []int32
	nodes []int32
}

// of returns the nodes that come after n.
func (s successors) of(n int32) []int32 { return s.nodes[s.start[n]:s.start[n+1]] }

// links counts the predecessors of each node, and reverses the edges.
func links(g Graph) (waits []int32, next successors) {
	waits = make([]int32, g.N)
	start := make([]int32, g.N+2) // shifted by one, to be filled in place
	edges := 0
	for n, after := range g.After {
		if n >= g.N && len(after) > 0 {
			panic(fmt.Sprintf("walk: node %d of a graph of %d comes after others", n, g.N))
		}
		edges += len(after)
		for _, m := range after {
			if m < 0 || int(m) >= g.N {
				panic(fmt.Sprintf("walk: node %d comes after %d, which a graph of %d does not have", n, m, g.N))
			}
			waits[n]++
			start[m+2]++
		}
	}
	for i := 2; i < len(start); i++ {
		start[i] += start[i-1]
	}
	nodes := make([]int32, edges)
	for n, after := range g.After {
		for _, m := range after {
			nodes[start[m+1]] = int32(n)
			start[m+1]++
		}
	}
	return waits, successors{start: start[:g.N+1], nodes: nodes}
}
