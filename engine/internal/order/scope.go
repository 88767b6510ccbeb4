package order

import (
	"slices"

	"github.com/lockstep-iac/lockstep/engine/addrs"
)

// A scope has the steps of a group of objects, so that a dependency on the group can wait for them. The group is all
// objects of a resource, or its objects in one module instance.
type scope struct {
	makes    []int32 // create, update, read
	verifies []int32
	early    []int32 // deletions that are not create-before-destroy
	late     []int32 // deletions that are create-before-destroy

	joins [joinKinds]int32 // the barriers made so far; 0 for none
	gates [gateKinds]int32
}

// A joinKind selects those steps of a scope that must end before another step begins.
type joinKind byte

const (
	joinMade  joinKind = iota // makes and verifies
	joinReal                  // makes
	joinEarly                 // early deletions
	joinKinds
)

// A gateKind selects those steps of a scope that must wait for another step, because of the state or of the
// configuration. All edges of a gate have the same strength.
type gateKind byte

const (
	gateDelete  gateKind = iota // any deletion
	gateLate                    // late deletions
	gateMake                    // makes
	gateDelete8                 // the same three, because of the configuration
	gateLate8
	gateMake8
	gateKinds
)

// gateStrength is the strength of the edges that each kind of gate makes.
var gateStrength = [gateKinds]strength{
	gateDelete: deleteDown, gateLate: letGo, gateMake: deleteFirst,
	gateDelete8: deleteDown8, gateLate8: letGo8, gateMake8: deleteFirst8,
}

func (s *scope) add(p parts) {
	switch {
	case p.makes >= 0 && p.verify:
		s.verifies = append(s.verifies, p.makes)
	case p.makes >= 0:
		s.makes = append(s.makes, p.makes)
	}
	switch {
	case p.deletes >= 0 && p.late:
		s.late = append(s.late, p.deletes)
	case p.deletes >= 0:
		s.early = append(s.early, p.deletes)
	}
}

// clone copies a scope. No barrier (a node that joins the edges of many steps) may have been made for it yet.
func (s *scope) clone() *scope {
	return &scope{
		makes: slices.Clone(s.makes), verifies: slices.Clone(s.verifies),
		early: slices.Clone(s.early), late: slices.Clone(s.late),
	}
}

// joined returns the steps that k selects, as two lists.
func (s *scope) joined(k joinKind) (one, two []int32) {
	switch k {
	case joinMade:
		return s.makes, s.verifies
	case joinReal:
		return s.makes, nil
	}
	return s.early, nil
}

// gated returns the steps that k selects, as two lists.
func (s *scope) gated(k gateKind) (one, two []int32) {
	switch k {
	case gateLate, gateLate8:
		return s.late, nil
	case gateMake, gateMake8:
		return s.makes, nil
	}
	return s.early, s.late
}

// after makes a step come after all steps of s that k selects. s may be nil.
func (b *builder) after(step int32, s *scope, k joinKind, w strength) {
	if s == nil {
		return
	}
	one, two := s.joined(k)
	switch len(one) + len(two) {
	case 0:
	case 1:
		b.edges.add(first(one, two), step, w)
	default:
		if s.joins[k] == 0 {
			s.joins[k] = b.step(-1, Barrier)
			for _, m := range one {
				b.edges.add(m, s.joins[k], must)
			}
			for _, m := range two {
				b.edges.add(m, s.joins[k], must)
			}
		}
		b.edges.add(s.joins[k], step, w)
	}
}

// afterInstances makes a step come after the steps that make the instances of d with these keys. If one of
// them does not exist, it adds no edges and returns false.
func (b *builder) afterInstances(step int32, d *block, keys []addrs.InstanceKey) bool {
	if len(keys) == 0 {
		return false
	}
	if b.single == nil {
		b.single = map[oneInstance][]int32{}
		for i := range b.changes {
			if m := b.parts[i].makes; m >= 0 {
				at := oneInstance{b.changes[i].Config, b.changes[i].Object.Instance.Resource.Key}
				b.single[at] = append(b.single[at], m)
			}
		}
	}
	for _, k := range keys {
		if len(b.single[oneInstance{d.name, k}]) == 0 {
			return false
		}
	}
	for _, k := range keys {
		for _, m := range b.single[oneInstance{d.name, k}] {
			b.edges.add(m, step, must)
		}
	}
	return true
}

// before makes a step come before all steps of s that k selects. s may be nil.
func (b *builder) before(step int32, s *scope, k gateKind) {
	if s == nil {
		return
	}
	one, two := s.gated(k)
	switch len(one) + len(two) {
	case 0:
	case 1:
		b.edges.add(step, first(one, two), gateStrength[k])
	default:
		if s.gates[k] == 0 {
			s.gates[k] = b.step(-1, Barrier)
			for _, m := range one {
				b.edges.add(s.gates[k], m, gateStrength[k])
			}
			for _, m := range two {
				b.edges.add(s.gates[k], m, gateStrength[k])
			}
		}
		b.edges.add(step, s.gates[k], must)
	}
}

// first returns the first step of two lists, of which at least one is not empty.
func first(one, two []int32) int32 {
	if len(one) > 0 {
		return one[0]
	}
	return two[0]
}
