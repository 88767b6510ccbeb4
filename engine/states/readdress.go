package states

import (
	"maps"
	"slices"

	"github.com/lockstep-iac/lockstep/engine/addrs"
)

// Readdress rewrites dependencies after instances were moved, in the objects of each instance for which the
// function in returns true. moves maps the old address of each instance to its new one; a zero new address
// means that the instance was moved to another state.
//
// An object that depended on a moved instance then depends on the new address. It also keeps the old address
// while an instance that it may depend on is still there. Dependencies have no instance keys, so a move to
// another key of the same resource changes nothing.
//
// An object in a module instance depends on the resources of this instance and of the instances around it. A
// move in another instance of the module does not change the object.
//
// Terraform's "state mv" forgets all dependencies of such objects, and later destroys them in any order.
func (e *Editor) Readdress(moves map[addrs.AbsResourceInstance]addrs.AbsResourceInstance, in func(addrs.AbsResourceInstance) bool) {
	r := readdressing{e: e, in: in, before: map[addrs.AbsResourceInstance]addrs.AbsResourceInstance{},
		to: map[addrs.ConfigResource]map[addrs.AbsResource]addrs.ConfigResource{}, needs: map[addrs.ConfigResource]map[addrs.ConfigResource]bool{}}
	for from, to := range moves {
		if from.Config() == to.Config() {
			continue
		}
		if r.to[from.Config()] == nil {
			r.to[from.Config()] = map[addrs.AbsResource]addrs.ConfigResource{}
		}
		r.to[from.Config()][from.AbsResource()] = to.Config()
		r.before[to] = from
	}
	if len(r.to) > 0 {
		r.rewrite()
	}
}

type readdressing struct {
	e      *Editor
	in     func(addrs.AbsResourceInstance) bool
	before map[addrs.AbsResourceInstance]addrs.AbsResourceInstance // old addresses by new ones
	// to has the new addresses of moved resources, by the old address. needs has what the objects at an
	// address depend on, made when first needed.
	to    map[addrs.ConfigResource]map[addrs.AbsResource]addrs.ConfigResource
	needs map[addrs.ConfigResource]map[addrs.ConfigResource]bool
}

// rewrite rewrites the dependencies of all objects for which the function in of the Readdress call returns
// true.
func (r *readdressing) rewrite() {
	for a, resource := range r.e.s.Resources() {
		for k, instance := range resource.Instances {
			at := addrs.ResourceInstanceObject{Instance: a.Instance(k)}
			if !r.in(at.Instance) {
				continue
			}
			if o := r.object(at.Instance, instance.Current); o != nil {
				r.e.ReplaceObject(at, o)
			}
			for key, o := range instance.Deposed {
				if o := r.object(at.Instance, o); o != nil {
					at.Deposed = key
					r.e.ReplaceObject(at, o)
				}
			}
		}
	}
}

// object returns a copy of o with rewritten dependencies; nil if the dependencies stay the same.
func (r *readdressing) object(at addrs.AbsResourceInstance, o *Object) *Object {
	if o == nil || !slices.ContainsFunc(o.Dependencies.All(), func(x addrs.ConfigResource) bool { return r.to[x] != nil }) {
		return nil
	}
	was, moved := r.before[at]
	if !moved {
		was = at
	}
	var list []addrs.ConfigResource
	for _, x := range o.Dependencies.All() {
		if r.to[x] == nil {
			list = append(list, x)
			continue
		}
		stayed, to := r.where(was, x)
		if stayed {
			list = append(list, x)
		}
		for n := range to {
			// Leave the new address out if an object at the new address depends on this object. Otherwise the
			// two objects would depend on each other.
			if n != (addrs.ConfigResource{}) && n != at.Config() && !r.needsOf(n)[at.Config()] {
				list = append(list, n)
			}
		}
	}
	out := *o
	if out.Dependencies = nil; len(list) > 0 {
		list = SortDependencies(list)
		out.Dependencies = ListedDependencies(func() []addrs.ConfigResource { return list })
	}
	return &out
}

// where returns the new addresses of those parts of resource x that an object at the old address may depend
// on. stayed reports whether a part of x was not moved.
func (r *readdressing) where(old addrs.AbsResourceInstance, x addrs.ConfigResource) (stayed bool, to map[addrs.ConfigResource]bool) {
	around, inside := enclosing(old.Module, x.Module)
	to = map[addrs.ConfigResource]bool{}
	for from, n := range r.to[x] {
		if !inside || from.Module == around {
			to[n] = true
		}
	}
	if inside {
		there := r.e.s.Resource(addrs.AbsResource{Module: around, Resource: x.Resource})
		return there != nil && len(there.Instances) > 0, to
	}
	for a, there := range r.e.s.Resources() {
		if a.Config() == x && len(there.Instances) > 0 {
			return true, to
		}
	}
	return false, to
}

// enclosing returns the instance of module that contains m, or is m itself. ok is false if there is no such
// instance.
func enclosing(m addrs.ModuleInstance, module addrs.Module) (around addrs.ModuleInstance, ok bool) {
	for _, s := range m.Steps() {
		if around.Module() == module {
			break
		}
		around = around.Child(s.Name, s.Key)
	}
	return around, around.Module() == module
}

// needsOf returns the resources that the objects at an address depend on.
func (r *readdressing) needsOf(address addrs.ConfigResource) map[addrs.ConfigResource]bool {
	if r.needs[address] != nil {
		return r.needs[address]
	}
	needs := map[addrs.ConfigResource]bool{}
	for a, resource := range r.e.s.Resources() {
		if a.Config() != address {
			continue
		}
		for _, instance := range resource.Instances {
			for _, o := range append(slices.Collect(maps.Values(instance.Deposed)), instance.Current) {
				if o == nil {
					continue
				}
				for _, x := range o.Dependencies.All() {
					needs[x] = true
					for _, n := range r.to[x] {
						needs[n] = true
					}
				}
			}
		}
	}
	r.needs[address] = needs
	return needs
}
