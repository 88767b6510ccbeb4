package planning

import (
	"slices"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/diags"
)

// sortMoves orders statements along their chains.
func sortMoves(list []move) ([]move, diags.Diagnostics) {
	const active, done = 1, 2
	mark := make([]byte, len(list))
	near := relate(list)
	var out []move
	var ds diags.Diagnostics
	var visit func(i int)
	visit = func(i int) {
		mark[i] = active
		for _, j := range near.to(i) {
			if j == i || !feeds(&near.ends[j], &near.ends[i]) {
				continue
			}
			switch mark[j] {
			case 0:
				visit(j)
			case active:
				if !list[i].implied && !list[j].implied && ds == nil {
					ds = diags.Errorf(list[i].place, "Cyclic dependency in move statements",
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

// ends are a statement and what its endpoints mean.
type ends struct {
	*move
	from, to pattern
}

// related finds the statements that may have to do with each other: those about a resource, or
// an instance of it, with those about the same one; those about modules with all.
type related struct {
	ends    []ends
	by      map[addrs.ConfigResource][]int
	keyed   map[keyed][]int // of by, those about single instances
	whole   map[addrs.ConfigResource][]int
	modules []int
	all     []int
}

// keyed is an instance, in whatever instance of its module.
type keyed struct {
	of  addrs.ConfigResource
	key addrs.InstanceKey
}

func relate(list []move) *related {
	r := &related{
		ends: make([]ends, len(list)), all: make([]int, len(list)),
		by: map[addrs.ConfigResource][]int{}, keyed: map[keyed][]int{}, whole: map[addrs.ConfigResource][]int{},
	}
	for i := range list {
		m := &list[i]
		r.ends[i] = ends{m, m.pattern(m.from), m.pattern(m.to)}
		r.all[i] = i
		if m.from.IsModule() || m.to.IsModule() {
			r.modules = append(r.modules, i)
			continue
		}
		for _, t := range []addrs.Target{m.from, m.to} {
			at := m.static(t)
			r.by[at] = append(r.by[at], i)
			if m.whole {
				r.whole[at] = append(r.whole[at], i)
			} else {
				r.keyed[keyed{at, t.Key}] = append(r.keyed[keyed{at, t.Key}], i)
			}
		}
	}
	return r
}

// to returns the statements that one may have to do with, in their order.
func (r *related) to(i int) []int {
	m := r.ends[i].move
	if m.from.IsModule() || m.to.IsModule() {
		return r.all
	}
	out := slices.Clone(r.modules)
	for _, t := range []addrs.Target{m.from, m.to} {
		at := m.static(t)
		if m.whole {
			out = append(out, r.by[at]...)
		} else {
			out = append(append(out, r.whole[at]...), r.keyed[keyed{at, t.Key}]...)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// feeds reports whether a comes before b: what a moves may be moved on by b, or what one
// of them moves is in a module that the other one moves. An inner object is moved away
// before the module around it moves, and moved within a module after that has its new
// address. These are Terraform's rules.
func feeds(a, b *ends) bool {
	switch {
	case a.to.meets(b.from):
		return true
	case !b.from.within(a.to) && !b.to.within(a.to) && !a.from.within(b.from) && !a.to.within(b.from):
		return false
	case b.depth() >= a.depth():
		return true
	}
	// All addresses of a are within both the old and the new one of b if b gives a module
	// another key. Then b comes first: see feeds(b, a).
	return !b.reindexes()
}

// depth is how deep the module is that a statement is written in. Implied ones count as the
// root module's, with addresses as it sees them: so Terraform 1.11.4 has them come before the
// move of a module around them.
func (m *move) depth() int { return m.module.Depth() }

// reindexes reports whether a statement gives instances of a module other keys.
func (m *move) reindexes() bool {
	return m.from.IsModule() && m.to.IsModule() && m.from.Module.Module() == m.to.Module.Module()
}

// A pattern is the objects that an endpoint may mean: those of one address, whatever the
// instance keys are where any is true.
type pattern struct {
	steps    []patternStep // of the module
	resource addrs.Resource
	key      addrs.InstanceKey
	any      bool // instance of the resource
}

type patternStep struct {
	name string
	key  addrs.InstanceKey
	any  bool
}

// pattern returns what an endpoint means in all instances of the statement's module.
func (m *move) pattern(t addrs.Target) pattern {
	p := pattern{resource: t.Resource, key: t.Key, any: m.whole}
	for _, name := range m.module.Steps() {
		p.steps = append(p.steps, patternStep{name: name, any: true})
	}
	steps := t.Module.Steps()
	for i, s := range steps {
		p.steps = append(p.steps, patternStep{s.Name, s.Key, t.IsModule() && i == len(steps)-1 && m.whole})
	}
	return p
}

func (p pattern) isModule() bool { return p.resource == (addrs.Resource{}) }

// meets reports whether an object may be meant by both.
func (p pattern) meets(q pattern) bool {
	return p.resource == q.resource && len(p.steps) == len(q.steps) && q.leads(p) &&
		(p.isModule() || p.key == q.key || p.any || q.any)
}

// within reports whether p may be in the module that q means, or an instance of the
// resource that q means as a whole.
func (p pattern) within(q pattern) bool {
	if !q.isModule() {
		return q.any && !p.any && p.resource == q.resource && len(p.steps) == len(q.steps) && q.leads(p)
	}
	deeper := len(p.steps) > len(q.steps) || !p.isModule() && len(p.steps) == len(q.steps)
	return deeper && q.leads(p)
}

// leads reports whether the path of p begins with that of q.
func (q pattern) leads(p pattern) bool {
	for i, s := range q.steps {
		if o := p.steps[i]; s.name != o.name || !s.any && !o.any && s.key != o.key {
			return false
		}
	}
	return true
}
