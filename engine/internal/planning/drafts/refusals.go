package drafts

import (
	"slices"
	"sync"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/engine/plans"
	"github.com/lockstep-iac/lockstep/engine/states"
)

// Refusals are the diagnostics about destroying objects, kept apart from the diagnostics of the usual plan,
// which is the first part of a destroy. Safe for concurrent use.
type Refusals struct {
	mu   sync.Mutex
	list []refusal
}

type refusal struct {
	obj addrs.ResourceInstanceObject
	ds  diags.Diagnostics
}

// Add records the diagnostics of an object.
func (r *Refusals) Add(obj addrs.ResourceInstanceObject, ds diags.Diagnostics) {
	if len(ds) == 0 {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.list = append(r.list, refusal{obj, ds})
}

// withhold returns changes without some deletions. It leaves out the deletion of an object if another object
// depends on it, directly or not, and cannot be destroyed. The function dependencies returns the dependencies
// of an object in the prior state. The diagnostics are those of the objects whose own deletion is not left out.
func (r *Refusals) withhold(changes []*plans.ResourceChange, dependencies func(addrs.ResourceInstanceObject) *states.Dependencies) ([]*plans.ResourceChange, diags.Diagnostics) {
	kept := needs{}
	for _, x := range r.list {
		if x.ds.HasErrors() && x.obj.Deposed == addrs.NotDeposed {
			kept.add(x.obj.Instance.Module, dependencies(x.obj))
		}
	}
	for grown := len(kept) > 0; grown; {
		grown = false
		changes = slices.DeleteFunc(changes, func(c *plans.ResourceChange) bool {
			if c.Addr.Deposed != addrs.NotDeposed || !kept.has(c.Addr.Instance.AbsResource()) {
				return false
			}
			kept.add(c.Addr.Instance.Module, c.StoredDeps)
			grown = true
			return true
		})
	}
	var ds diags.Diagnostics
	for _, x := range r.list {
		if x.obj.Deposed != addrs.NotDeposed || !kept.has(x.obj.Instance.AbsResource()) {
			ds = append(ds, x.ds...)
		}
	}
	return changes, ds
}

// needs are the resources that some objects depend on, in all module instances or in a single one.
type needs map[need]bool

type need struct {
	resource addrs.ConfigResource
	in       addrs.ModuleInstance
	all      bool
}

// add adds the dependencies of an object in a module instance. A dependency in the same module means the same
// instance of the module.
func (n needs) add(in addrs.ModuleInstance, d *states.Dependencies) {
	for _, cr := range d.All() {
		if cr.Module == in.Module() {
			n[need{resource: cr, in: in}] = true
		} else {
			n[need{resource: cr, all: true}] = true
		}
	}
}

func (n needs) has(abs addrs.AbsResource) bool {
	return n[need{resource: abs.Config(), all: true}] || n[need{resource: abs.Config(), in: abs.Module}]
}
