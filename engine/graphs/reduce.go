package graphs

import (
	"maps"
	"slices"
)

// reduce removes the edges that follow from others. With circles nothing follows, and all
// edges stay.
func (b *builder) reduce() {
	heights, ok := b.heights()
	if !ok {
		return
	}
	seen := make([]int, len(b.nodes)) // by node, the last one whose neighbours come after it, and one
	at := make(map[*node]int, len(b.nodes))
	for i, n := range b.nodes {
		at[n] = i
	}
	type edge struct{ from, to *node }
	var gone []edge
	for i, n := range b.nodes {
		if len(n.after) < 2 {
			continue
		}
		// A search through all that the neighbours of n come after, highest first. It need
		// not go below the lowest neighbour that was not found yet.
		near := slices.SortedFunc(maps.Keys(n.after), func(x, y *node) int { return heights[x] - heights[y] })
		lowest := 0
		stack := slices.Clone(near)
		for len(stack) > 0 {
			x := stack[len(stack)-1]
			stack = stack[:len(stack)-1]
			for seen[at[near[lowest]]] == i+1 { // the highest never is
				lowest++
			}
			if heights[x] <= heights[near[lowest]] {
				continue
			}
			for y := range x.after {
				if seen[at[y]] == i+1 {
					continue
				}
				seen[at[y]] = i + 1
				if n.after[y] {
					gone = append(gone, edge{n, y})
				} else {
					stack = append(stack, y)
				}
			}
		}
	}
	for _, e := range gone {
		disconnect(e.from, e.to)
	}
}

// heights returns for each node the longest way to one that comes after nothing; false if
// there is a circle.
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

// circles numbers the nodes that are in circles, those of one circle alike. It is
// Tarjan's search for strongly connected components, with a stack of its own.
func (g *Graph) circles() map[*node]int {
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
