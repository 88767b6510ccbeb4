package refs

import (
	"maps"
	"slices"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/config"
)

// OnlyInstances returns of the resources that o depends on directly, as [Refs.Resources]
// has them, those of which it mentions nothing but some instances, by literal keys: which
// ones. Source: for Terraform's apply, `a[0]` means that instance and no other; what is
// computed, as `a[count.index]`, means all. The caller must not change it.
func (r *Refs) OnlyInstances(o addrs.Object) map[addrs.Object][]addrs.InstanceKey { return r.only[o] }

// keys notes the instance keys by which uses in m, which are o's, mention resources. A
// resource that is mentioned as a whole, too, has none.
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
		maps.Copy(found, r.mentioned[o]) // a variable's rules mention what its own module has
		r.mentioned[o] = found
	}
}

// closeOverInstances fills in what OnlyInstances says of o, after it has been filled in for
// all that o mentions.
func (r *Refs) closeOverInstances(o addrs.Object) {
	if r.mentioned[o] == nil && !slices.ContainsFunc(r.direct[o], func(u addrs.Object) bool { return r.only[u] != nil }) {
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
			add(u, r.mentioned[o][u])
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
