package order

import (
	"fmt"
	"slices"
	"strings"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/plans"
)

// A builder collects the steps and the edges between them.
type builder struct {
	changes []Change
	steps   []Step
	edges   edges
	parts   []parts // steps of each change, by index of the change
	blocks  map[addrs.ConfigResource]*block
	// forgotten has the Forget steps by resource, arranged as if they were deletions.
	forgotten map[addrs.ConfigResource]*block
	stored    list
	config    list
	needs     list // dependencies of the provider configuration
	forgets   list // stored dependencies with objects that are forgotten
	// deposed are the deletions of deposed objects, by instance.
	deposed map[addrs.AbsResourceInstance][]int32
	// single are the steps that make an instance with a key, in any instance of its module; nil until first
	// needed.
	single map[oneInstance][]int32
}

// A oneInstance identifies the instances of a resource with the same key, in all instances of its module. So
// module.m[0].x.a["k"] and module.m[1].x.a["k"] have the same one.
type oneInstance struct {
	block addrs.ConfigResource
	key   addrs.InstanceKey
}

// parts has the indices of the steps of one change; -1 if the change has no such step.
type parts struct {
	makes, deletes int32
	verify         bool // the step makes is a Verify
	late           bool // the step deletes is create-before-destroy
}

// A block is all changes of one resource.
type block struct {
	name     addrs.ConfigResource
	module   addrs.Module
	provider addrs.AbsProviderConfig
	all      *scope
	// instance is the module instance of the first change. If other module instances have changes, scopes has
	// a scope for each module instance; otherwise all is the only scope.
	instance addrs.ModuleInstance
	scopes   map[addrs.ModuleInstance]*scope
	// marks has, for each kind of list, the stamp of the visit that saw the block last. So a visit sees the
	// block only once for each kind of list.
	marks [listKinds]int
}

// listKind is the kind of a list of dependencies that a visit reads.
type listKind byte

const (
	inStored listKind = iota
	inNeeds           // dependencies of the provider configuration
	inConfig
	inRest // the configuration's dependencies, read a second time
	inForgotten
	listKinds
)

// A list is the list of dependencies that was looked up last. Many changes in a row may share one list.
type list struct {
	deps   []addrs.ConfigResource
	blocks []*block // dependencies with changes
}

// find returns the blocks of deps that have changes. The result is valid until the next call.
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

// split makes the steps of a change, and adds them to b.parts.
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

// sort adds the steps p of change i to two scopes of the change's block: to the scope of the whole block, and
// to the scope of the change's module instance.
func (b *builder) sort(blocks map[addrs.ConfigResource]*block, i int, p parts) {
	c := &b.changes[i]
	in := c.Object.Instance.Module
	x := blocks[c.Config]
	if x == nil {
		x = &block{name: c.Config, module: c.Config.Module, provider: c.Provider, all: &scope{}, instance: in}
		blocks[c.Config] = x
	}
	if p.makes >= 0 {
		x.provider = c.Provider // prefer the provider of an object that is made
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

// near returns the scope of d that concerns a change. If the change belongs to the same module as d, this is
// the scope of the change's module instance, because different instances of a module do not depend on each
// other. Otherwise it is the scope of the whole block. The result may be nil.
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

// isOrphan reports whether the changes of the resource only delete or forget objects: then it may have no
// block.
func (d *block) isOrphan() bool { return len(d.all.makes)+len(d.all.verifies) == 0 }

// describe returns the steps and their dependencies as text, for a panic.
func (b *builder) describe() string {
	var s strings.Builder
	for i, c := range b.changes {
		if deps := slices.Concat(c.ConfigDeps, c.ProviderDeps); b.parts[i].makes >= 0 && len(deps) > 0 {
			fmt.Fprintf(&s, "\n%s -> %v", c.Object, deps)
		}
	}
	return s.String()
}
