package order

import (
	"iter"
	"slices"

	"github.com/lockstep-iac/lockstep/engine/plans"
)

// strength is the priority of an edge, strongest first. Each number is the number of a rule in the essay of
// this package.
type strength byte

const (
	must        strength = iota // 1 to 3
	deleteDown                  // 4
	letGo                       // 5
	deleteFirst                 // 6
	formerFirst                 // 7
	deleteDown8                 // rule 8: rule 4 because of the configuration; the next ones likewise
	letGo8
	deleteFirst8
	formerFirst8
	weakest = formerFirst8
)

// order adds the edges that determine when a change is made. i is the number of the change.
func (b *builder) order(i int) {
	c, p := &b.changes[i], b.parts[i]
	b.stored.find(b.blocks, c.StoredDeps)
	b.config.find(b.blocks, c.ConfigDeps)
	b.needs.find(b.blocks, c.ProviderDeps)
	if p.makes >= 0 {
		b.orderMake(i)
	}
	if p.deletes >= 0 {
		b.orderDelete(i)
	}
	switch {
	case p.makes < 0 || p.deletes < 0:
	case p.late:
		b.edges.add(p.makes, p.deletes, must)
	default:
		b.edges.add(p.deletes, p.makes, must)
	}
}

// orderMake adds the edges between the step that creates, updates or reads an object and the steps of its
// dependencies.
func (b *builder) orderMake(i int) {
	c, p := &b.changes[i], b.parts[i]
	v := visit{b.blocks[c.Config], 2*i + 1}
	stored, config, needs := b.stored.blocks, b.config.blocks, b.needs.blocks
	for d := range v.each(inConfig, config) {
		if !b.afterInstances(p.makes, d, c.OnlyInstances[d.name]) {
			b.after(p.makes, d.all, joinMade, must)
		}
	}
	for d := range v.each(inNeeds, needs) {
		if !v.saw(inConfig, d) || len(c.OnlyInstances[d.name]) > 0 {
			b.after(p.makes, d.all, joinMade, must)
		}
	}
	if p.verify {
		stored = nil // rule 5 does not apply
	}
	for d := range v.each(inStored, stored) {
		b.after(p.makes, d.near(c), joinEarly, formerFirst)
		b.before(p.makes, d.near(c), gateLate)
	}
	for d := range v.each(inRest, config) {
		if v.saw(inStored, d) {
			continue
		}
		b.after(p.makes, d.near(c), joinEarly, formerFirst8)
		if !p.verify {
			b.before(p.makes, d.near(c), gateLate8)
		}
	}
	if !p.verify {
		for _, old := range b.deposed[c.Object.Instance] {
			b.edges.add(p.makes, old, letGo)
		}
	}
}

// orderDelete adds the edges between the deletion of an object and the steps of the dependencies of the
// object and its provider.
func (b *builder) orderDelete(i int) {
	c, p := &b.changes[i], b.parts[i]
	v := visit{b.blocks[c.Config], 2*i + 2}
	stored, config, needs := b.stored.blocks, b.config.blocks, b.needs.blocks
	if c.Action == plans.Delete && v.own.isOrphan() {
		for _, d := range config {
			if d.provider != c.Provider {
				needs = append(slices.Clip(needs), d)
			}
		}
	}
	b.forgets.find(b.forgotten, c.StoredDeps)
	for d := range v.each(inForgotten, b.forgets.blocks) {
		b.before(p.deletes, d.near(c), gateDelete)
	}
	for d := range v.each(inNeeds, needs) {
		b.after(p.deletes, d.all, joinMade, must)
		b.before(p.deletes, d.all, gateDelete)
	}
	for d := range v.each(inStored, stored) {
		switch {
		case v.saw(inNeeds, d):
			continue
		case p.late:
			b.after(p.deletes, d.near(c), joinReal, formerFirst)
		default:
			b.before(p.deletes, d.near(c), gateMake)
		}
		b.before(p.deletes, d.near(c), gateDelete)
	}
	for d := range v.each(inConfig, config) {
		switch {
		case v.saw(inNeeds, d) || v.saw(inStored, d):
			continue
		case p.late:
			b.after(p.deletes, d.near(c), joinReal, formerFirst8)
		default:
			b.before(p.deletes, d.near(c), gateMake8)
		}
		b.before(p.deletes, d.near(c), gateDelete8)
	}
}

// A visit goes through the lists of dependencies of one step. It yields each block once for each list, and
// never the block own, to which the step belongs.
type visit struct {
	own   *block
	stamp int // unique, not 0
}

func (v visit) each(k listKind, deps []*block) iter.Seq[*block] {
	return func(yield func(*block) bool) {
		for _, d := range deps {
			if d == v.own || d.marks[k] == v.stamp {
				continue
			}
			d.marks[k] = v.stamp
			if !yield(d) {
				return
			}
		}
	}
}

// saw reports whether the visit's list of kind k contained the block d.
func (v visit) saw(k listKind, d *block) bool { return d.marks[k] == v.stamp }
