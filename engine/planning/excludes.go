package planning

import (
	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/plans"
)

/*
-exclude leaves out what it names and all that depends on that; the rest is planned with
everything that it depends on, which cannot be left out then. As with -target, what
depends on one instance of a resource is what mentions the resource: it is left out too,
all of its instances. A block that is left out as a whole is not even expanded, so that
what is wrong with its count or for_each is no obstacle; nor are values evaluated that
nothing planned needs, but for outputs of the root module that come from what is planned.

A destroy has the opposite direction: with what is kept, all is kept that it was built on.
Source: OpenTofu 1.9, `tofu plan -exclude`. Unlike there, an address without instance keys
means all instances of the modules on its way in a destroy as well, not in a plan only.
*/

// selectRest computes what excludes leave.
func (p *planner) selectRest() {
	users := map[addrs.ConfigResource][]addrs.ConfigResource{}
	link := func(user, used addrs.ConfigResource) { users[used] = append(users[used], user) }
	p.configuredUses(link)
	p.orphanUses(link)
	p.included = p.without(users)
	for _, m := range p.in.Config.Order {
		for r := range m.Resources {
			if cr := (addrs.ConfigResource{Module: m.Addr, Resource: r}); !p.included.out[cr] {
				p.include(cr.Object(), true)
			}
		}
	}
	p.includeOutputs()
	if p.in.Mode == plans.DestroyMode {
		used := map[addrs.ConfigResource][]addrs.ConfigResource{}
		link := func(user, what addrs.ConfigResource) { used[user] = append(used[user], what) }
		p.configuredUses(link)
		p.orphanUses(link)
		p.storedUses(link)
		p.doomed = p.without(used)
	}
}

// without returns the selection of all but what the excludes name and what is reached from there.
func (p *planner) without(next map[addrs.ConfigResource][]addrs.ConfigResource) *selection {
	s := &selection{objects: map[addrs.Object]bool{}, whole: map[addrs.ConfigResource]bool{}, excludes: p.in.Excludes}
	var named, entirely []addrs.ConfigResource
	note := func(cr addrs.ConfigResource) {
		if mayName(s.excludes, cr) {
			named = append(named, cr)
		}
		for _, t := range s.excludes {
			if meansAll(t, cr) {
				entirely = append(entirely, cr)
			}
		}
	}
	for _, m := range p.in.Config.Order {
		for r := range m.Resources {
			note(addrs.ConfigResource{Module: m.Addr, Resource: r})
		}
	}
	for abs := range p.prior.Current().Resources() {
		note(abs.Config())
	}
	s.out = reach(named, next)
	for _, cr := range entirely {
		s.out[cr] = true
	}
	return s
}

// meansAll reports whether an address without instance keys means a block.
func meansAll(t addrs.Target, cr addrs.ConfigResource) bool {
	m := t.Module.Module()
	if m.String() != t.Module.String() || !t.Key.IsNone() {
		return false
	}
	if t.IsModule() {
		return m.Contains(cr.Module)
	}
	return m == cr.Module && t.Resource == cr.Resource
}

// orphanUses calls link for what the provider configurations of resources without block
// depend on.
func (p *planner) orphanUses(link func(user, used addrs.ConfigResource)) {
	for abs, r := range p.prior.Current().Resources() {
		if m := p.in.Config.Modules[abs.Module.Module()]; m != nil && m.Resources[abs.Resource] != nil {
			continue
		}
		if o, ok := p.deps.Provider(r.Provider); ok {
			for _, d := range p.deps.Of(o) {
				link(abs.Config(), d)
			}
		}
	}
}
