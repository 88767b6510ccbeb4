package comparing

import (
	"github.com/zclconf/go-cty/cty"

	"github.com/lockstep-iac/lockstep/engine/marks"
)

// maxOpen is the largest number of set elements with unknown parts for which partners are searched. The
// search is quadratic, and a configuration may have any number of elements. A larger set counts as different.
const maxOpen = 1000

// sameSet reports whether the elements of the approved set can have become the elements of the set now. Set
// elements have no names. So each new element needs a partner of its own among the approved elements, and
// several elements that were unknown may have become one.
func sameSet(approved, now cty.Value) bool {
	a, b := marks.Plain(approved), marks.Plain(now)
	var open []cty.Value // approved elements with unknown parts
	settled := 0         // elements of now that were known before
	for _, e := range a.AsValueSlice() {
		switch {
		case !e.IsWhollyKnown():
			open = append(open, e)
		case !has(b, e):
			return false
		default:
			settled++
		}
	}
	var rest []cty.Value // elements of now that were not known
	for _, e := range b.AsValueSlice() {
		if !e.IsWhollyKnown() || !has(a, e) {
			rest = append(rest, e)
		}
	}
	if len(rest) > len(open) || len(open) > maxOpen {
		return false
	}
	for _, e := range open {
		if !fits(e, b) {
			return false
		}
	}
	return paired(open, rest)
}

// has reports whether a set has the element e. If the set's elements have another type, a compatible element
// counts.
func has(set, e cty.Value) bool {
	if !set.Type().ElementType().Equals(e.Type()) {
		for _, x := range set.AsValueSlice() {
			if compatible(e, x) {
				return true
			}
		}
		return false
	}
	in := set.HasElement(e)
	if in.IsKnown() {
		return in.True()
	}
	for _, x := range set.AsValueSlice() {
		if x.RawEquals(e) {
			return true
		}
	}
	return false
}

// fits reports whether an element with unknown parts can have become one of the elements of a set.
func fits(e, set cty.Value) bool {
	for _, x := range set.AsValueSlice() {
		if compatible(e, x) {
			return true
		}
	}
	return false
}

// paired reports whether each element of rest can get a partner of its own in open. It searches for
// augmenting paths in a bipartite graph.
func paired(open, rest []cty.Value) bool {
	owner := make([]int, len(open)) // index of the partner in rest, plus one; 0 if there is none
	var give func(r int, tried []bool) bool
	give = func(r int, tried []bool) bool {
		for o, e := range open {
			if tried[o] || !compatible(e, rest[r]) {
				continue
			}
			tried[o] = true
			if owner[o] == 0 || give(owner[o]-1, tried) {
				owner[o] = r + 1
				return true
			}
		}
		return false
	}
	for r := range rest {
		if !give(r, make([]bool, len(open))) {
			return false
		}
	}
	return true
}
