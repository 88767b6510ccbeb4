package graphs

import (
	"maps"
	"slices"
)

// reduce removes each edge that a longer path between the same two nodes makes redundant. A graph with cycles
// keeps all edges. The cost is a search from each node; the search stops at the height of the lowest
// neighbour that is still a candidate.
func (b *builder) reduce() {
	heights, ok := b.heights()
	if !ok {
		return
	}
	height, after := b.numbers(heights)
	const near, found = 1, 2
	mark := make([]int32, len(b.nodes)) // 2*i + near or found, where i is the node whose search set the mark last
	for i, n := range b.nodes {
		me := 2 * int32(i)
		// Only edges that a longer path may replace are candidates. If n is the only node that comes after x,
		// there is no other path to x, so its edge is no candidate. The edge to the highest neighbour cannot be
		// replaced either.
		var candidates []int32
		for _, x := range after[i] {
			mark[x] = me + near
			if len(b.nodes[x].before) > 1 {
				candidates = append(candidates, x)
			}
		}
		stack := slices.Clone(after[i])
		for len(stack) > 0 && len(candidates) > 0 {
			x := stack[len(stack)-1]
			if mark[candidates[0]] == me+found {
				candidates = candidates[1:]
				continue
			}
			stack = stack[:len(stack)-1]
			if height[x] <= height[candidates[0]] {
				continue
			}
			for _, y := range after[x] {
				switch mark[y] {
				case me + found:
				case me + near:
					mark[y] = me + found
					disconnect(n, b.nodes[y]) // y needs no push: it is on the stack already
				default:
					mark[y] = me + found
					stack = append(stack, y)
				}
			}
		}
	}
}

// numbers returns the graph as slices by node number, which are faster to search: the height of each node,
// and the nodes that it comes after, lowest first.
func (b *builder) numbers(heights map[*node]int) (height []int, after [][]int32) {
	at := make(map[*node]int32, len(b.nodes))
	for i, n := range b.nodes {
		at[n] = int32(i)
	}
	height = make([]int, len(b.nodes))
	after = make([][]int32, len(b.nodes))
	for i, n := range b.nodes {
		height[i] = heights[n]
		after[i] = make([]int32, 0, len(n.after))
		for x := range n.after {
			after[i] = append(after[i], at[x])
		}
	}
	for _, list := range after {
		slices.SortFunc(list, func(x, y int32) int { return height[x] - height[y] })
	}
	return height, after
}

// heights returns the height of each node: the length of the longest path to a node that comes after nothing.
// The result is false if there is a cycle.
func (g *Graph) heights() (map[*node]int, bool) {
	heights := make(map[*node]int, len(g.nodes))
	waiting := make(map[*node]int, len(g.nodes))
	var ready []*node
	for _, n := range g.nodes {
		if waiting[n] = len(n.after); waiting[n] == 0 {
			ready = append(ready, n)
		}
	}
	done := 0
	for ; done < len(ready); done++ {
		n := ready[done]
		for x := range n.before {
			heights[x] = max(heights[x], heights[n]+1)
			if waiting[x]--; waiting[x] == 0 {
				ready = append(ready, x)
			}
		}
	}
	return heights, done == len(g.nodes)
}

// cycles returns a number for each node in a cycle; nodes of the same cycle have the same number. It is
// Tarjan's search for strongly connected components, without recursion.
func (g *Graph) cycles() map[*node]int {
	out := map[*node]int{}
	index, low := map[*node]int{}, map[*node]int{}
	onStack := map[*node]bool{}
	var stack []*node
	type frame struct {
		n    *node
		next []*node
	}
	enter := func(n *node) frame {
		index[n] = len(index) + 1
		low[n] = index[n]
		stack = append(stack, n)
		onStack[n] = true
		return frame{n, slices.SortedFunc(maps.Keys(n.after), func(x, y *node) int { return x.id - y.id })}
	}
	for _, start := range g.nodes {
		if index[start] > 0 {
			continue
		}
		for frames := []frame{enter(start)}; len(frames) > 0; {
			f := &frames[len(frames)-1]
			if len(f.next) > 0 {
				x := f.next[0]
				f.next = f.next[1:]
				if index[x] == 0 {
					frames = append(frames, enter(x))
				} else if onStack[x] {
					low[f.n] = min(low[f.n], index[x])
				}
				continue
			}
			n := f.n
			frames = frames[:len(frames)-1]
			if len(frames) > 0 {
				up := frames[len(frames)-1].n
				low[up] = min(low[up], low[n])
			}
			if low[n] == index[n] {
				alone := stack[len(stack)-1] == n
				for done := false; !done; {
					x := stack[len(stack)-1]
					stack = stack[:len(stack)-1]
					onStack[x] = false
					if !alone {
						out[x] = index[n]
					}
					done = x == n
				}
			}
		}
	}
	return out
}
