package applying

import (
	"slices"
	"sync"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/internal/dependencies"
	"github.com/lockstep-iac/lockstep/engine/refs"
)

/*
# What a failure affects

The question "does x depend on a failure?" comes in two forms, at two times.

The first is asked while steps run, when a step needs a value. The order skips the steps that come after a
failed one, but a step that refers only to a[0] runs although a[1] failed. So failures are recorded by
instance, and the question is only whether one of the needed instances failed (of, needs).

The second is asked after all steps, about outputs, checks and blocks without instances, which have no steps.
For them the dependencies of the configuration are followed through everything in between: local values,
modules, other resources that were skipped (blocked, waits). This works by block, except for references with a
literal key.

In doubt, the object counts as depending on the failure. An output that keeps its old value becomes right with
the next apply. An output computed from half-made objects may be read by another configuration in the
meantime.
*/

// failures are the resource instances that did not get their planned values, and everything that depends on
// them. Safe for concurrent use until the walk ends. Call [failures.blocked] and [failures.waits] only after
// the walk.
type failures struct {
	deps *dependencies.Graph
	refs *refs.Refs

	mu        sync.Mutex
	instances map[addrs.AbsResource]map[addrs.InstanceKey]bool
	// blocks are the blocks of failed instances and of steps that were not started, and ephemeral resources
	// that could not be opened.
	blocks map[addrs.ConfigResource]bool
	// uncreated are the resources whose creation failed without a result, or was not reached. They do not
	// stay in the state without instances.
	uncreated map[addrs.AbsResource]bool
	known     *consequences
}

// consequences has the answers computed from the failures so far. A new failure makes them invalid.
type consequences struct {
	blocks    int // number of blocks with failures when the answers were computed
	blocked   map[addrs.ConfigResource]bool
	instances map[addrs.ConfigResource][]map[addrs.InstanceKey]bool // keys of failed instances, one set for each module instance
}

func newFailures(deps *dependencies.Graph, rs *refs.Refs) *failures {
	return &failures{
		deps: deps, refs: rs,
		instances: map[addrs.AbsResource]map[addrs.InstanceKey]bool{},
		blocks:    map[addrs.ConfigResource]bool{},
		uncreated: map[addrs.AbsResource]bool{},
	}
}

// instance records the failure of an instance. Other instances of its block may still succeed.
func (f *failures) instance(a addrs.AbsResourceInstance) {
	f.mu.Lock()
	defer f.mu.Unlock()
	abs := a.AbsResource()
	if f.instances[abs] == nil {
		f.instances[abs] = map[addrs.InstanceKey]bool{}
	}
	f.instances[abs][a.Resource.Key] = true
}

// block records that a block did not get everything that was planned.
func (f *failures) block(cr addrs.ConfigResource) {
	f.mu.Lock()
	f.blocks[cr] = true
	f.mu.Unlock()
}

// notCreated records that the creation of an object of a resource failed without a result, or was not
// reached.
func (f *failures) notCreated(abs addrs.AbsResource) {
	f.mu.Lock()
	f.uncreated[abs] = true
	f.mu.Unlock()
}

// leavesNothing reports whether [failures.notCreated] was called for a resource.
func (f *failures) leavesNothing(abs addrs.AbsResource) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.uncreated[abs]
}

// of reports whether any instance of a resource failed. If only is not nil, it looks just at the instances with
// the keys in only.
func (f *failures) of(abs addrs.AbsResource, only []addrs.InstanceKey) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if only == nil {
		return len(f.instances[abs]) > 0
	}
	return slices.ContainsFunc(only, func(k addrs.InstanceKey) bool { return f.instances[abs][k] })
}

// needs reports whether a resource depends directly on a resource with a failure.
func (f *failures) needs(abs addrs.AbsResource) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.instances) == 0 {
		return false
	}
	used := f.refs.Resources(addrs.Object{Module: abs.Module.Module(), Kind: addrs.KindResource, Res: abs.Resource})
	for r := range f.instances {
		if slices.ContainsFunc(used, func(o addrs.Object) bool {
			return o.Kind == addrs.KindResource && o.Module == r.Module.Module() && o.Res == r.Resource
		}) {
			return true
		}
	}
	return false
}

// blocked reports whether a block depends on a block with a failure. It keeps the answers, because many
// objects share dependencies, and following them again for each object could take exponential time.
func (f *failures) blocked(cr addrs.ConfigResource) bool {
	known := f.consequences().blocked
	if is, ok := known[cr]; ok {
		return is
	}
	known[cr] = false // ends the recursion for a resource that refers to itself
	known[cr] = f.waits(addrs.Object{Module: cr.Module, Kind: addrs.KindResource, Res: cr.Resource})
	return known[cr]
}

// waits reports whether an object depends on a block with a failure, even if only through a depends_on of an
// enclosing module call.
func (f *failures) waits(o addrs.Object) bool {
	if len(f.blocks) == 0 {
		return false
	}
	only := f.refs.OnlyInstances(o)
	for _, d := range f.deps.Of(o) {
		keys := only[addrs.Object{Module: d.Module, Kind: addrs.KindResource, Res: d.Resource}]
		if len(keys) > 0 && f.anyOf(d, keys) || len(keys) == 0 && (f.blocks[d] || f.blocked(d)) {
			return true
		}
	}
	return false
}

// anyOf reports whether one of the given instances of the block cr failed, in any module instance.
func (f *failures) anyOf(cr addrs.ConfigResource, keys []addrs.InstanceKey) bool {
	return slices.ContainsFunc(f.consequences().instances[cr], func(failed map[addrs.InstanceKey]bool) bool {
		return slices.ContainsFunc(keys, func(k addrs.InstanceKey) bool { return failed[k] })
	})
}

// consequences returns the answers computed so far; none if there are new failures.
func (f *failures) consequences() *consequences {
	if f.known == nil || f.known.blocks != len(f.blocks) {
		f.known = &consequences{len(f.blocks), map[addrs.ConfigResource]bool{}, map[addrs.ConfigResource][]map[addrs.InstanceKey]bool{}}
		for abs, keys := range f.instances {
			cr := abs.Config()
			f.known.instances[cr] = append(f.known.instances[cr], keys)
		}
	}
	return f.known
}
