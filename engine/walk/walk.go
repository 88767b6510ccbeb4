// Package walk is the only scheduler: it visits the nodes of a graph, each after all its predecessors,
// several at a time but never more than a limit. Planning walks resources with it, applying walks steps. It
// is the only package of the engine that starts goroutines: a visit that has many similar things to do calls
// [Each] instead.
//
// The package knows nothing of the meaning of nodes, edges and errors. An error only means that the
// successors must not be visited. Start at [Run].
package walk

import (
	"context"
	"errors"
	"fmt"
)

// Graph is a graph with the nodes 0 to N-1. After[n] has the nodes that must be visited before n; naming a
// node twice has no further effect. After may be shorter than N: the remaining nodes have no predecessors.
type Graph struct {
	N     int
	After [][]int32
	// Kinds[n] is the kind of node n, an index into Limits. Limits[k] is the largest number of nodes of kind
	// k that are visited at a time; 0 means that only the walk's
	// limit applies. A node that waits for its kind
	// takes no place, so nodes of other kinds continue. Both are nil if no kind has a limit; otherwise Kinds
	// has an entry for each node.
	Kinds  []int32
	Limits []int
}

// ErrSkipped is the result of a node that was not visited because one of its direct or indirect predecessors
// failed.
var ErrSkipped = errors.New("skipped: something that it depends on failed")

// Run visits every node of g after all its predecessors have been visited without error, at most limit at a
// time, and returns when nothing is running. If several nodes are ready, the node at the head of the longest
// chain of waiting nodes goes first; among equals, the node with the lowest number. A node whose kind has
// reached its limit waits.
//
// The result has an error for each node: nil, the error of its own visit, [ErrSkipped], or the cause of ctx's
// end if the visit never began. A failure stops only the successors of the node. When ctx ends, nothing new
// begins and running visits finish: the context of a visit has the values of ctx, but neither its end nor its
// deadline. A visit that must be interruptible watches a context of its own.
//
// Run panics before the first visit if the graph has a cycle, a node is out of range or the limit is below 1:
// these are bugs of the caller. If a visit panics, Run panics with a [*Panic] in the goroutine of its caller,
// once all running visits have finished.
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
