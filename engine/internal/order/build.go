package order

import (
	"fmt"
	"slices"
	"strings"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/plans"
)

// A builder gathers the steps and the edges between them.
type builder struct {
	changes []Change
	steps   []Step
	edges   edges
	parts   []parts // by change
	blocks  map[addrs.ConfigResource]*block
	// forgotten has the Forget steps, as if they were deletions.
	forgotten map[addrs.ConfigResource]*block
	stored    list
	config    list
	needs     list // of the provider
	forgets   list // the stored ones, of which something is forgotten
	// deposed are the deletions of an instance's deposed objects.
	deposed map[addrs.AbsResourceInstance][]int32
	// single are the steps that make an instance, in any instance of its module; nil as long
	// as nobody asked.
	single map[oneInstance][]int32
}

// oneInstance is the instances of a block that have one key.
type oneInstance struct {
	block addrs.ConfigResource
	key   addrs.InstanceKey
}

// parts are the steps of one change, -1 where it has none.
type parts struct {
	makes, deletes int32
	verify         bool // makes is a Verify
	late           bool // deletes is create-before-destroy
}

// A block is all changes of one resource.
type block struct {
	name     addrs.ConfigResource
	module   addrs.Module
	provider addrs.AbsProviderConfig
	all      *scope
	// instance is the module instance of the first change. If there are changes in
	// others, scopes has a scope for each; else all is that scope.
	instance addrs.ModuleInstance
	scopes   map[addrs.ModuleInstance]*scope
	// marks are, for each kind of list, the stamp of the last visit that found the block there.
	marks [listKinds]int
}

// listKind tells apart the lists that a visit looks at.
type listKind byte

const (
	inStored listKind = iota
	inNeeds           // of the provider
	inConfig
	inRest // the configuration's, looked at again
	inForgotten
	listKinds
)

// A list is the list of dependencies looked up last. Many changes in a row may share
// one.
type list struct {
	deps   []addrs.ConfigResource
	blocks []*block // those of them that have changes
}

// find returns those of deps that have changes. The result holds until the next call.
func (l *list) find(blocks map[addrs.ConfigResource]*block, deps []addrs.ConfigResource) []*block {
	if len(deps) == len(l.deps) && (len(deps) == 0 || &deps[0] == &l.deps[0]) {
		return l.blocks
	}
	l.deps, l.blocks = deps, l.blocks[:0]
	for _, d := range deps {
		if x := blocks[d]; x != nil {
			l.blocks = append(l.blocks, x)
		}
	}
	return l.blocks
}

// newBuilder makes the steps and sorts them into scopes.
func newBuilder(changes []Change) *builder {
	b := &builder{
		changes: changes,
		steps:   make([]Step, 0, len(changes)+len(changes)/2),
		parts:   make([]parts, len(changes)),
		blocks:  map[addrs.ConfigResource]*block{},
		deposed: map[addrs.AbsResourceInstance][]int32{},

		forgotten: map[addrs.ConfigResource]*block{},
	}
	for i := range changes {
		b.split(i)
	}
	for i := range changes {
		if p := b.parts[i]; p.makes >= 0 || p.deletes >= 0 {
			b.sort(b.blocks, i, p)
		}
	}
	return b
}

// split makes the steps of a change.
func (b *builder) split(i int) {
	c := &b.changes[i]
	p := parts{makes: -1, deletes: -1}
	deposed := c.Object.Deposed != addrs.NotDeposed
	if deposed && !slices.Contains([]plans.Action{plans.Delete, plans.Forget, plans.NoOp}, c.Action) {
		panic(fmt.Sprintf("order: %s is planned for %s", c.Action, c.Object))
	}
	switch c.Action {
	case plans.NoOp:
		if !deposed {
			p.makes, p.verify = b.step(i, Verify), true
		}
	case plans.Create:
		p.makes = b.step(i, Create)
	case plans.Update:
		p.makes = b.step(i, Update)
	case plans.Read:
		p.makes = b.step(i, Read)
	case plans.Delete:
		p.deletes, p.late = b.step(i, Delete), deposed || c.CreateBeforeDestroy
	case plans.Forget:
		b.sort(b.forgotten, i, parts{makes: -1, deletes: b.step(i, Forget)})
	case plans.DeleteThenCreate:
		p.deletes = b.step(i, Delete)
		p.makes = b.step(i, Create)
	case plans.CreateThenDelete:
		p.makes = b.step(i, Create)
		p.deletes, p.late = b.step(i, Delete), true
	default:
		panic(fmt.Sprintf("order: %s is planned for %s", c.Action, c.Object))
	}
	if deposed && p.deletes >= 0 {
		b.deposed[c.Object.Instance] = append(b.deposed[c.Object.Instance], p.deletes)
	}
	b.parts[i] = p
}

// step adds a step.
func (b *builder) step(change int, v Verb) int32 {
	b.steps = append(b.steps, Step{change, v})
	return int32(len(b.steps) - 1)
}

// sort puts the steps of a change into the scopes that dependencies mean.
func (b *builder) sort(blocks map[addrs.ConfigResource]*block, i int, p parts) {
	c := &b.changes[i]
	in := c.Object.Instance.Module
	x := blocks[c.Config]
	if x == nil {
		x = &block{name: c.Config, module: c.Config.Module, provider: c.Provider, all: &scope{}, instance: in}
		blocks[c.Config] = x
	}
	if p.makes >= 0 {
		x.provider = c.Provider // rather than that of an object without configuration
	}
	if x.scopes == nil && in != x.instance {
		x.scopes = map[addrs.ModuleInstance]*scope{x.instance: x.all.clone()}
	}
	x.all.add(p)
	if x.scopes == nil {
		return
	}
	if x.scopes[in] == nil {
		x.scopes[in] = &scope{}
	}
	x.scopes[in].add(p)
}

// near returns the scope of d for an object in a module instance: instances of
// the same module have nothing to do with each other. It may be nil.
func (d *block) near(c *Change) *scope {
	in := c.Object.Instance.Module
	switch {
	case c.Config.Module != d.module:
		return d.all
	case d.scopes != nil:
		return d.scopes[in]
	case d.instance == in:
		return d.all
	}
	return nil
}

// isOrphan reports whether nothing of a resource is made: there may be no block.
func (d *block) isOrphan() bool { return len(d.all.makes)+len(d.all.verifies) == 0 }

// describe returns the steps and their dependencies, for a panic.
func (b *builder) describe() string {
	var s strings.Builder
	for i, c := range b.changes {
		if deps := slices.Concat(c.ConfigDeps, c.ProviderDeps); b.parts[i].makes >= 0 && len(deps) > 0 {
			fmt.Fprintf(&s, "\n%s -> %v", c.Object, deps)
		}
	}
	return s.String()
}
