// Package walk is the one scheduler: it visits the nodes of a graph, each after all its
// predecessors, several at a time but never more than a limit. Planning walks resources with it,
// applying walks steps. It is the only package of the engine that starts goroutines; a visit that
// has many equal things to do shares them out with [Each] instead of starting its own.
//
// It refuses to know the meaning of nodes and edges, and of errors beyond "the successors must not
// be visited". Start at [Run].
package walk

import (
	"context"
	"errors"
	"fmt"
)

// Graph is a graph over the nodes 0 to N-1. After[n] are the nodes that n comes
// after; one that is named twice counts once. After may be shorter than N: the
// nodes beyond it come after nothing.
type Graph struct {
	N     int
	After [][]int32
	// Kinds[n] is the kind of node n, an index into Limits, and Limits[k] is how many nodes of kind k are visited at a
	// time at most; 0 means as many as the walk allows. A node that is not begun because of it holds no place, so
	// nodes of other kinds go on. Both are nil if no kind has a limit, else there is a kind for each node.
	Kinds  []int32
	Limits []int
}

// ErrSkipped is the result of a node that was not visited because one that it
// comes after, directly or not, was visited and failed.
var ErrSkipped = errors.New("skipped: something that it depends on failed")

// Run visits every node of g after all its predecessors have been visited without error, at most
// limit at a time, and returns when nothing is under way any more. Among the nodes that are ready,
// those come first that the longest line of others waits for, then those of a lower number, but for those whose kind
// has reached its limit.
//
// The result holds for each node nil, the error of its own visit, [ErrSkipped], or the cause of
// ctx's end if it was never started. A failure keeps back only its successors. When ctx ends,
// nothing new is started and visits under way finish: the context of a visit carries the values of
// ctx, but neither its end nor its deadline. A visit that wants to be interrupted watches a context
// of its own.
//
// A graph with a cycle, a node out of range and a limit below 1 are our bugs: Run panics before it
// visits anything. A visit that panics makes Run panic with a [*Panic] in the goroutine of its
// caller, once everything under way has finished.
func Run(ctx context.Context, limit int, g Graph, visit func(ctx context.Context, node int) error) []error {
	if limit < 1 {
		panic(fmt.Sprintf("walk: a limit of %d", limit))
	}
	order, next := sorted(g)
	if len(order) < g.N {
		panic(fmt.Sprintf("walk: the graph has a cycle: %v", findCycle(g)))
	}
	if g.N == 0 {
		return nil
	}
	p := newPool(ctx, limit, g, order, next)
	p.visit = visit
	p.mu.Lock()
	p.hire()
	busy := p.busy > 0
	p.mu.Unlock()
	if busy {
		<-p.idle
	}
	if p.panic != nil {
		panic(p.panic)
	}
	return p.results()
}
