package order

import (
	"cmp"
	"maps"
	"slices"
)

/*
Untangling removes cycles by dropping wishes.

Few graphs have a cycle at all. To find out, nodes without predecessors or successors are removed first, until
only those on cycles and between cycles remain. If some remain, the rest works on these:

 1. Find the strongly connected components. In each with more than one node, some step has only wishes as
    edges from its component. The reason: the necessary edges have no cycle, so they have a first node. This
    node is not a barrier, because the edges into a barrier on a cycle are necessary (barriers are never
    dropped, see scope.go).
 2. Among such steps, take the one whose strongest incoming wish is the weakest, and drop all wishes that come
    into it from the component. Repeat from 1 until no component is left.
 3. Add dropped wishes again, the strongest first, if they close no cycle with the present edges. A wish from
    a barrier is added separately for each node before the barrier.

If the necessary edges and all wishes of at least some strength have no cycle, none of these is dropped: there
is always a step in 2 with only weaker ones. After 3, each missing wish would close a cycle.

Each round of 1 and 2 is linear in the remaining nodes. The number of rounds is the largest number of steps
that drop wishes in one component: one, in every known case.
*/

// untangle removes edges until the graph has no cycle. It may add edges that bypass barriers (nodes that only
// join the edges of many steps). n is the number of nodes; the nodes with index steps and above are barriers.
// It returns false if the edges that must stay have a cycle.
func untangle(n, steps int, e edges) (edges, bool) {
	gone, waits := make([]bool, n), make([]int32, n)
	for _, y := range e.to {
		waits[y]++
	}
	out := e.index(n, e.from)
	strip(gone, waits, out, e.to)
	if !slices.Contains(gone, false) {
		return e, true
	}
	clear(waits)
	for i, x := range e.from {
		if !gone[e.to[i]] {
			waits[x]++
		}
	}
	into := e.index(n, e.to)
	strip(gone, waits, into, e.from)

	t := tangle{
		edges: e, into: into, out: out, steps: int32(steps),
		gone:  make([]bool, len(e.from)),
		extra: map[int32][]int32{},
	}
	var left []int32
	for x, is := range gone {
		if !is {
			left = append(left, int32(x))
		}
	}
	for t.parts = newComponents(n, left); ; {
		left = t.parts.split(left, t.next)
		if len(left) == 0 {
			t.restore()
			return t.rest(), true
		}
		if !t.release(left) {
			return e, false
		}
	}
}

// strip removes each node that waits for nothing, and repeats this until every remaining node waits for another one. It
// sets gone[n] for a removed node n. waits[n] is the number of remaining nodes for which node n waits; strip counts it
// down. edges has the edges of the nodes that wait for n, and ends[i] is the waiting node of edge i.
func strip(gone []bool, waits []int32, edges index, ends []int32) {
	var free []int32
	for x, w := range waits {
		if w == 0 && !gone[x] {
			free = append(free, int32(x))
		}
	}
	for len(free) > 0 {
		x := free[len(free)-1]
		free = free[:len(free)-1]
		gone[x] = true
		for _, i := range edges.of(x) {
			if y := ends[i]; !gone[y] {
				if waits[y]--; waits[y] == 0 {
					free = append(free, y)
				}
			}
		}
	}
}

// A tangle is a graph whose cycles are being removed.
type tangle struct {
	edges
	into, out index
	steps     int32
	parts     *components
	gone      []bool            // by edge: the edge is removed
	dropped   []int32           // removed edges; those into the same node are adjacent
	extra     map[int32][]int32 // edges added again that bypass a barrier
}

// next returns the node that the i-th edge out of x leads to. same reports whether the edge still exists and
// both are in the same component; ok is false if there is no such edge.
func (t *tangle) next(x, i int32) (y int32, same, ok bool) {
	list := t.out.of(x)
	if int(i) >= len(list) {
		return 0, false, false
	}
	y = t.to[list[i]]
	return y, !t.gone[list[i]] && t.parts.same(x, y), true
}

// release chooses one step in each component: the one with the weakest wishes (edges that may be dropped) into
// it. It removes these wishes. cyclic are the nodes of the components. It returns false if a component has no
// such step.
func (t *tangle) release(cyclic []int32) bool {
	best := map[int32]choice{}
	for _, x := range cyclic {
		c := t.choice(x)
		if b, ok := best[t.parts.of[x]]; !ok || c.better(b) {
			best[t.parts.of[x]] = c
		}
	}
	for _, part := range slices.Sorted(maps.Keys(best)) {
		b := best[part]
		if b.strongest == must {
			return false
		}
		t.letGo(b.node)
		if b.edges > 1 || b.from < t.steps {
			continue
		}
		// Also release the other steps that wait only for this barrier, with edges of the same strength. One by
		// one, each of them would take a round.
		for _, i := range t.out.of(b.from) {
			if x := t.to[i]; !t.gone[i] && t.weight[i] == b.strongest && t.parts.same(x, b.from) && t.choice(x).edges == 1 {
				t.letGo(x)
			}
		}
	}
	return true
}

// A choice is a node, and the edges into it from its own component.
type choice struct {
	node      int32
	strongest strength
	edges     int
	from      int32 // the node at the start of one of the edges
}

func (t *tangle) choice(x int32) choice {
	c := choice{node: x, strongest: weakest}
	for _, i := range t.into.of(x) {
		if !t.gone[i] && t.parts.same(x, t.from[i]) {
			c.strongest = min(c.strongest, t.weight[i])
			c.edges++
			c.from = t.from[i]
		}
	}
	return c
}

// better reports whether removing the edges into c is better than removing those into d. The weaker edges are
// removed first, then the fewer; otherwise the number of the node decides.
func (c choice) better(d choice) bool {
	return cmp.Or(cmp.Compare(d.strongest, c.strongest), cmp.Compare(c.edges, d.edges), cmp.Compare(c.node, d.node)) < 0
}

// letGo removes the edges that lead to the node x from other nodes of its component.
func (t *tangle) letGo(x int32) {
	for _, i := range t.into.of(x) {
		if !t.gone[i] && t.parts.same(x, t.from[i]) {
			t.gone[i] = true
			t.dropped = append(t.dropped, i)
		}
	}
}

// restore adds a removed wish (an edge that may be dropped) again if that closes no cycle.
func (t *tangle) restore() {
	slices.SortStableFunc(t.dropped, func(i, j int32) int { return cmp.Compare(t.weight[i], t.weight[j]) })
	seen := make([]int32, len(t.into.start)-1) // by node: the last round in which it was reached
	round, last := int32(0), int32(-1)
	for _, i := range t.dropped {
		from, to := t.from[i], t.to[i]
		if to != last {
			round, last = round+1, to
			t.reach(to, round, seen)
		}
		if seen[from] != round {
			t.gone[i] = false
			continue
		}
		if from < t.steps {
			continue
		}
		for _, j := range t.into.of(from) {
			if x := t.from[j]; seen[x] != round {
				t.extra[x] = append(t.extra[x], to)
			}
		}
	}
}

// reach sets seen to round for the nodes that come after x, among those that were on a cycle.
func (t *tangle) reach(x, round int32, seen []int32) {
	todo := []int32{x}
	visit := func(y int32) {
		if seen[y] != round && t.parts.of[y] != 0 {
			seen[y] = round
			todo = append(todo, y)
		}
	}
	for len(todo) > 0 {
		x := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		for _, i := range t.out.of(x) {
			if !t.gone[i] {
				visit(t.to[i])
			}
		}
		for _, y := range t.extra[x] {
			visit(y)
		}
	}
}

// rest returns the remaining edges, including those added again.
func (t *tangle) rest() edges {
	var e edges
	for i, gone := range t.gone {
		if !gone {
			e.add(t.from[i], t.to[i], t.weight[i])
		}
	}
	for _, x := range slices.Sorted(maps.Keys(t.extra)) {
		for _, y := range t.extra[x] {
			e.add(x, y, weakest)
		}
	}
	return e
}
