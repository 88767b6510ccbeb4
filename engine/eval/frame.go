package eval

import (
	"sync"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/config"
)

// A frame is a module instance: its module, its directory, and the call that made it.
type frame struct {
	module   *config.Module
	parent   addrs.ModuleInstance
	instance *Instance // instance of the call; nil for the root module
	dir      string

	pathOnce sync.Once
	path     cty.Value
	named    map[namedKey]cty.Value      // guarded by the evaluator's mu
	shared   map[string]*hcl.EvalContext // guarded by the evaluator's mu: see builder.shared
}

// expanded has the module instances that calls were expanded to. Safe for concurrent use.
type expanded struct {
	mu     sync.Mutex
	frames map[addrs.ModuleInstance]*frame
	lists  map[*config.Module][]addrs.ModuleInstance // all instances, in order
}

func newExpanded(root *frame) expanded {
	return expanded{
		frames: map[addrs.ModuleInstance]*frame{addrs.RootModuleInstance: root},
		lists:  map[*config.Module][]addrs.ModuleInstance{root.module: {addrs.RootModuleInstance}},
	}
}

// frame returns the frame of a module instance. It panics if the call of the instance has not been expanded yet.
func (x *expanded) frame(in addrs.ModuleInstance) *frame {
	x.mu.Lock()
	f := x.frames[in]
	x.mu.Unlock()
	if f == nil {
		panic("eval: module instance " + in.String() + " is used before it was expanded")
	}
	return f
}

// has reports whether a module instance exists, among the calls expanded so far.
func (x *expanded) has(in addrs.ModuleInstance) bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.frames[in] != nil
}

// addFrames adds the frames of all instances of a call.
func (x *expanded) addFrames(call addrs.ModuleInstance, child *config.Module, instances []Instance) {
	x.mu.Lock()
	defer x.mu.Unlock()
	for i := range instances {
		in := &instances[i]
		x.frames[call.Child(child.Call.Name, in.Key)] = &frame{module: child, parent: call, instance: in, dir: child.Dir}
	}
}

// list returns the kept list of a module's instances. The result is false if none was kept.
func (x *expanded) list(m *config.Module) ([]addrs.ModuleInstance, bool) {
	x.mu.Lock()
	defer x.mu.Unlock()
	l, ok := x.lists[m]
	return l, ok
}

func (x *expanded) keepList(m *config.Module, l []addrs.ModuleInstance) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.lists[m] = l
}
