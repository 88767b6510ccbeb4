package graphs

import (
	"maps"
	"slices"
)

// reduce removes the edges that follow from others. A graph with cycles keeps all edges. The cost is
// that of a search from each node, which does not look below the lowest neighbour whose edge may
// follow from others.
func (b *builder) reduce() {
	heights, ok := b.heights()
	if !ok {
		return
	}
	height, after := b.numbers(heights)
	const near, found = 1, 2
	mark := make([]int32, len(b.nodes)) // twice the number of the last node that asked, plus one of the above
	for i, n := range b.nodes {
		me := 2 * int32(i)
		// An edge to a node that no other node comes after does not follow from others; nor does
		// the one to the highest.
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
					disconnect(n, b.nodes[y]) // it is on the stack
				default:
					mark[y] = me + found
					stack = append(stack, y)
				}
			}
		}
	}
}

// numbers returns the heights of the nodes and what each comes after, lowest first, by the nodes' numbers: the search
// looks at them very often.
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

// heights returns for each node the longest way to one that comes after nothing; false if
// there is a cycle.
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

// cycles numbers the nodes that are in cycles, those of one cycle alike: Tarjan's search for strongly
// connected components, without recursion.
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
