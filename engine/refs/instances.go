package refs

import (
	"maps"
	"slices"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/config"
)

// OnlyInstances returns the instance keys with which o refers to resources, by resource. It has only the
// resources to which all references of o have a literal key, such as `a[0]`. In Terraform's apply, `a[0]` means
// only that instance, but `a[count.index]` means all instances. The caller must not change the result.
func (r *Refs) OnlyInstances(o addrs.Object) map[addrs.Object][]addrs.InstanceKey { return r.only[o] }

// keys records the literal instance keys in the given references of o in m. A resource gets no entry if one
// of the references is to all of its instances.
func (r *Refs) keys(m *config.Module, o addrs.Object, uses []*Reference) {
	if !slices.ContainsFunc(uses, func(u *Reference) bool { return u.HasKey }) {
		return
	}
	found := map[addrs.Object][]addrs.InstanceKey{}
	for _, u := range uses {
		if u.HasKey && u.Object.Kind == addrs.KindResource {
			at := u.Object
			at.Module = m.Addr
			found[at] = append(found[at], u.Key)
		}
	}
	for _, u := range uses {
		if !u.HasKey && u.Object.Kind == addrs.KindResource {
			at := u.Object
			at.Module = m.Addr
			delete(found, at)
		}
	}
	if len(found) > 0 {
		maps.Copy(found, r.keyed[o]) // The validation rules of a variable refer to objects in the variable's own module.
		r.keyed[o] = found
	}
}

// closeOverInstances completes OnlyInstances for o. Call it first for all objects that o refers to.
func (r *Refs) closeOverInstances(o addrs.Object) {
	if r.keyed[o] == nil && !slices.ContainsFunc(r.direct[o], func(u addrs.Object) bool { return r.only[u] != nil }) {
		return
	}
	found, whole := map[addrs.Object][]addrs.InstanceKey{}, map[addrs.Object]bool{}
	add := func(x addrs.Object, keys []addrs.InstanceKey) {
		if len(keys) == 0 {
			whole[x] = true
		} else {
			for _, k := range keys {
				if !slices.Contains(found[x], k) {
					found[x] = append(found[x], k)
				}
			}
		}
	}
	for _, u := range r.direct[o] {
		switch u.Kind {
		case addrs.KindResource:
			add(u, r.keyed[o][u])
		case addrs.KindProvider:
		default:
			for _, x := range r.resources[u] {
				add(x, r.only[u][x])
			}
		}
	}
	for x := range whole {
		delete(found, x)
	}
	if len(found) > 0 {
		r.only[o] = found
	}
}
