package planning

import (
	"slices"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/diags"
)

// Statements form chains: b -> c moves on what a -> b has moved. They are carried out in the order of a
// depth-first search, in which a statement comes after the statements that feed it. Two statements that feed
// each other, directly or through others, are a cycle: then the final address of their objects is undefined.
// Implied statements never cause a cycle error, because nobody wrote them; one of the two just comes first.
//
// Comparing each statement with all others is quadratic, and configurations with thousands of moved blocks
// exist. So statements about resources are found by their endpoints (neighbours). Only statements about
// modules are compared with all others.

// sortMoves sorts statements so that each chain (a to b, b to c) is carried out in a safe order. The error is
// about the first cycle.
func sortMoves(list []moveStatement) ([]moveStatement, diags.Diagnostics) {
	const active, done = 1, 2
	mark := make([]byte, len(list))
	near := newMoveNeighbours(list)
	var out []moveStatement
	var ds diags.Diagnostics
	var visit func(i int)
	visit = func(i int) {
		mark[i] = active
		for _, j := range near.of(i) {
			if j == i || !moveFeeds(&near.ends[j], &near.ends[i]) {
				continue
			}
			switch mark[j] {
			case 0:
				visit(j)
			case active:
				if !list[i].implied && !list[j].implied && ds == nil {
					ds = diags.Errorf(list[i].rng, "Cyclic dependency in move statements",
						"The following chained move statements form a cycle, and so there is no final location to move objects to: %s -> %s and %s -> %s. Remove one or more of these move statements.",
						list[j].from, list[j].to, list[i].from, list[i].to)
				}
			}
		}
		mark[i] = done
		out = append(out, list[i])
	}
	for i := range list {
		if mark[i] == 0 {
			visit(i)
		}
	}
	return out, ds
}

// moveEnds is a statement with its endpoints as patterns.
type moveEnds struct {
	*moveStatement
	from, to movePattern
}

// moveFeeds reports whether a must come before b. There are two cases. Either b may move on what a moves. Or
// one of them moves something inside a module that the other one moves: then the statement of the outer
// module comes first. So an object is moved out of a module before the module moves, and within a module
// after the module has its new address.
// Source: Terraform's rules. Implied statements count as statements of the root module, with absolute
// addresses. So Terraform 1.11.4 carries them out before the move of an enclosing module.
func moveFeeds(a, b *moveEnds) bool {
	switch {
	case a.to.overlaps(b.from):
		return true
	case !b.from.within(a.to) && !b.to.within(a.to) && !a.from.within(b.from) && !a.to.within(b.from):
		return false
	case b.module.Depth() >= a.module.Depth():
		return true
	}
	// If b changes only the instance keys of a module, both addresses of b contain all addresses of a. Then
	// moveFeeds(b, a) reports that b comes first.
	return !b.rekeys()
}

// rekeys reports whether a statement changes the instance keys of a module.
func (st *moveStatement) rekeys() bool {
	return st.from.IsModule() && st.to.IsModule() && st.from.Module.Module() == st.to.Module.Module()
}

// moveNeighbours finds, for each statement, the statements that may have to be ordered with it.
type moveNeighbours struct {
	ends []moveEnds
	// Indices of statements about resources, by block: all of them, those about single instances by key, and
	// those about all instances.
	byBlock map[addrs.ConfigResource][]int
	byKey   map[keyedBlock][]int
	whole   map[addrs.ConfigResource][]int
	modules []int // indices of statements about modules
	all     []int
}

// A keyedBlock is one instance key of a block, in all instances of its module.
type keyedBlock struct {
	block addrs.ConfigResource
	key   addrs.InstanceKey
}

func newMoveNeighbours(list []moveStatement) *moveNeighbours {
	n := &moveNeighbours{
		ends: make([]moveEnds, len(list)), all: make([]int, len(list)),
		byBlock: map[addrs.ConfigResource][]int{}, byKey: map[keyedBlock][]int{}, whole: map[addrs.ConfigResource][]int{},
	}
	for i := range list {
		st := &list[i]
		n.ends[i] = moveEnds{st, st.pattern(st.from), st.pattern(st.to)}
		n.all[i] = i
		if st.from.IsModule() || st.to.IsModule() {
			n.modules = append(n.modules, i)
			continue
		}
		for _, t := range []addrs.Target{st.from, st.to} {
			block := st.block(t)
			n.byBlock[block] = append(n.byBlock[block], i)
			if st.whole {
				n.whole[block] = append(n.whole[block], i)
			} else {
				n.byKey[keyedBlock{block, t.Key}] = append(n.byKey[keyedBlock{block, t.Key}], i)
			}
		}
	}
	return n
}

// of returns the neighbours of the statement with the index i, in ascending order.
func (n *moveNeighbours) of(i int) []int {
	st := n.ends[i].moveStatement
	if st.from.IsModule() || st.to.IsModule() {
		return n.all
	}
	out := slices.Clone(n.modules)
	for _, t := range []addrs.Target{st.from, st.to} {
		block := st.block(t)
		if st.whole {
			out = append(out, n.byBlock[block]...)
		} else {
			out = append(append(out, n.whole[block]...), n.byKey[keyedBlock{block, t.Key}]...)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}
