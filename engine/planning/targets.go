package planning

import (
	"slices"
	"strings"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/config"
	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/engine/plans"
)

// selection is what -target or -exclude leaves of a configuration.
type selection struct {
	// objects are the blocks and values to plan and evaluate.
	objects map[addrs.Object]bool
	// named are the blocks of which the targets name instances.
	named map[addrs.ConfigResource]bool
	// whole are the blocks that something targeted depends on: every instance of them is
	// planned, but of those that are named, too, only what the targets name.
	whole   map[addrs.ConfigResource]bool
	targets []addrs.Target
	// places are like whole, in single module instances.
	places map[addrs.AbsResource]bool
	// excludes stand instead of targets: of every block that is not out, all instances are
	// planned that no exclude names.
	excludes []addrs.Target
	out      map[addrs.ConfigResource]bool
}

// selectPart computes what is planned if not everything is.
func (p *planner) selectPart() {
	switch {
	case len(p.in.Targets) > 0:
		p.selectTargets()
	case len(p.in.Excludes) > 0:
		p.selectRest()
	}
}

// selectTargets computes the closure of the targets over what they refer to. For a
// destroy, what depends on them goes as well, as the state has it: an object is not
// destroyed because of what the configuration would make it depend on.
func (p *planner) selectTargets() {
	s := &selection{objects: map[addrs.Object]bool{}, whole: map[addrs.ConfigResource]bool{}, targets: p.in.Targets}
	p.included = s
	var named []addrs.ConfigResource
	for _, m := range p.in.Config.Order {
		for r := range m.Resources {
			cr := addrs.ConfigResource{Module: m.Addr, Resource: r}
			if mayName(s.targets, cr) {
				named = append(named, cr)
			}
		}
	}
	s.named = map[addrs.ConfigResource]bool{}
	for _, cr := range named {
		s.named[cr] = true
	}
	for _, cr := range named {
		p.include(cr.Object(), true)
	}
	p.includeOutputs()
	if p.in.Mode == plans.DestroyMode {
		for abs := range p.prior.Current().Resources() {
			if cr := abs.Config(); mayName(s.targets, cr) {
				named = append(named, cr)
			}
		}
		p.doomed = &selection{places: p.dependents(), named: map[addrs.ConfigResource]bool{}, targets: p.in.Targets}
		for _, cr := range named {
			p.doomed.named[cr] = true
		}
	}
}

// mayName reports whether one of the addresses may mean an instance of a block.
func mayName(list []addrs.Target, cr addrs.ConfigResource) bool {
	for _, t := range list {
		tm := t.Module.Module()
		switch {
		case t.IsModule() && tm.Contains(cr.Module):
			return true
		case !t.IsModule() && tm == cr.Module && t.Resource == cr.Resource:
			return true
		}
	}
	return false
}

// include adds an object and what it refers to.
func (p *planner) include(o addrs.Object, named bool) {
	s := p.included
	if o.Kind == addrs.KindResource && !named {
		s.whole[addrs.ConfigResource{Module: o.Module, Resource: o.Res}] = true
	}
	if s.objects[o] {
		return
	}
	s.objects[o] = true
	for _, u := range p.in.Refs.Direct(o) {
		p.include(u, false)
	}
	for _, u := range p.in.Refs.Imports(o) {
		p.include(u, false)
	}
}

// dependents returns the resources of the state that depend on the targets, so that nothing
// outlives what it was built on. Those in different instances of a module have nothing to do with
// each other.
func (p *planner) dependents() map[addrs.AbsResource]bool {
	var next []addrs.AbsResource
	places := map[addrs.ConfigResource][]addrs.AbsResource{}
	for abs, r := range p.prior.Current().Resources() {
		places[abs.Config()] = append(places[abs.Config()], abs)
		for k := range r.Instances {
			if slices.ContainsFunc(p.in.Targets, func(t addrs.Target) bool { return t.Contains(abs.Instance(k)) }) {
				next = append(next, abs)
				break
			}
		}
	}
	users := map[addrs.ConfigResource][]addrs.ConfigResource{}
	link := func(user, used addrs.ConfigResource) { users[used] = append(users[used], user) }
	p.storedUses(link)
	out, seen, met := map[addrs.AbsResource]bool{}, map[addrs.AbsResource]bool{}, map[addrs.ConfigResource]bool{}
	reach := func(abs addrs.AbsResource) {
		if !out[abs] {
			out[abs] = true
			next = append(next, abs)
		}
	}
	for len(next) > 0 {
		used := next[len(next)-1]
		if next = next[:len(next)-1]; seen[used] {
			continue
		}
		seen[used] = true
		cr := used.Config()
		for _, user := range users[cr] {
			switch near := (addrs.AbsResource{Module: used.Module, Resource: user.Resource}); {
			case user.Module == cr.Module && p.prior.Current().Resource(near) != nil:
				reach(near)
			case user.Module != cr.Module && !met[cr]:
				for _, abs := range places[user] {
					reach(abs)
				}
			}
		}
		met[cr] = true
	}
	return out
}

// configuredUses calls link for each direct dependency of a block, or of the import blocks
// for it, on another.
func (p *planner) configuredUses(link func(user, used addrs.ConfigResource)) {
	for _, m := range p.in.Config.Order {
		for r := range m.Resources {
			cr := addrs.ConfigResource{Module: m.Addr, Resource: r}
			for _, d := range p.deps.Direct(cr) {
				link(cr, d)
			}
			for _, d := range p.deps.Imports(cr) {
				link(cr, d)
			}
		}
	}
}

// storedUses calls link for each dependency that the state has of one resource on another.
func (p *planner) storedUses(link func(user, used addrs.ConfigResource)) {
	for abs, res := range p.in.State.Resources() {
		for _, in := range res.Instances {
			if in.Current == nil {
				continue
			}
			for _, d := range in.Current.Dependencies.All() {
				link(abs.Config(), d)
			}
		}
	}
}

// reach returns what can be reached from the named resources in at least one step.
func reach(named []addrs.ConfigResource, next map[addrs.ConfigResource][]addrs.ConfigResource) map[addrs.ConfigResource]bool {
	out, seen := map[addrs.ConfigResource]bool{}, map[addrs.ConfigResource]bool{}
	var visit func(cr addrs.ConfigResource)
	visit = func(cr addrs.ConfigResource) {
		if seen[cr] {
			return
		}
		seen[cr] = true
		for _, x := range next[cr] {
			out[x] = true
			visit(x)
		}
	}
	for _, cr := range named {
		visit(cr)
	}
	return out
}

// includeOutputs adds the root outputs that depend on nothing but what is included.
func (p *planner) includeOutputs() {
	for name := range p.in.Config.Root.Outputs {
		o := addrs.Object{Kind: addrs.KindOutput, Name: name}
		found := false
		for _, d := range p.in.Refs.Resources(o) {
			if d.Kind != addrs.KindResource {
				continue
			}
			if found = p.included.objects[d]; !found {
				break
			}
		}
		if found {
			p.includeValue(o)
		}
	}
}

// includeValue adds a value and the values it refers to, but no blocks.
func (p *planner) includeValue(o addrs.Object) {
	if p.included.objects[o] || o.Kind == addrs.KindResource {
		return
	}
	p.included.objects[o] = true
	for _, u := range p.in.Refs.Direct(o) {
		p.includeValue(u)
	}
}

// wants reports whether an instance is part of the plan.
func (p *planner) wants(a addrs.AbsResourceInstance) bool {
	return p.included == nil || p.included.has(a)
}

// has reports whether an instance is selected.
func (s *selection) has(a addrs.AbsResourceInstance) bool {
	if len(s.excludes) > 0 {
		return !s.out[a.Config()] && !slices.ContainsFunc(s.excludes, func(t addrs.Target) bool { return t.Contains(a) })
	}
	if cr := a.Config(); (s.whole[cr] || s.places[a.AbsResource()]) && !s.named[cr] {
		return true
	}
	return s.names(a)
}

// names reports whether an instance is selected for itself, rather than because something
// selected depends on it.
func (s *selection) names(a addrs.AbsResourceInstance) bool {
	if len(s.excludes) > 0 {
		return s.has(a)
	}
	return slices.ContainsFunc(s.targets, func(t addrs.Target) bool { return t.Contains(a) })
}

// includes reports whether a block is part of the plan.
func (p *planner) includes(cr addrs.ConfigResource) bool {
	return p.included == nil || p.included.objects[cr.Object()]
}

// leavesOut reports whether nothing in a called module is part of the plan, so that not even
// how many there are of it is.
func (p *planner) leavesOut(m *config.Module) bool {
	return p.included != nil && m.Parent != nil &&
		!p.included.objects[addrs.Object{Module: m.Parent.Addr, Kind: addrs.KindCall, Name: m.Call.Name}]
}

// hasOrphan reports whether an instance of a resource without a block is selected.
func (s *selection) hasOrphan(p *planner, cr addrs.ConfigResource) bool {
	for _, abs := range p.byConfig[cr] {
		for k := range p.prior.Current().Resource(abs).Instances {
			if s.has(abs.Instance(k)) {
				return true
			}
		}
	}
	return false
}

// skipValue reports whether a named value or check block is left out of this plan: all are that
// nothing selected needs.
func (p *planner) skipValue(o addrs.Object) bool {
	return p.included != nil && !p.included.objects[o]
}

// replaceWarnings reports -replace of a whole resource, of which only instances can be
// replaced.
func (p *planner) replaceWarnings() diags.Diagnostics {
	var ds diags.Diagnostics
	for _, a := range p.in.ForceReplace {
		keys, ok := p.instances.Resources[a.AbsResource()]
		if !ok || slices.Contains(keys, a.Resource.Key) || !a.Resource.Key.IsNone() {
			continue
		}
		if len(keys) == 0 {
			ds = append(ds, diags.Warningf(nil, "Incompletely-matched force-replace resource instance",
				"Your force-replace request for %s doesn't match any resource instance, because the resource has none now.", a)...)
			continue
		}
		var names []string
		for _, k := range keys {
			names = append(names, a.AbsResource().Instance(k).String())
		}
		ds = append(ds, diags.Warningf(nil, "Incompletely-matched force-replace resource instance",
			"Your force-replace request for %s doesn't match any resource instance, because there are these instances of the resource:\n  - %s\n\nUse their full addresses.", a, strings.Join(names, "\n  - "))...)
	}
	return ds
}

// targetWarnings says that the plan is not the whole story.
func (p *planner) targetWarnings() diags.Diagnostics {
	option := p.partOption()
	if option == "" {
		return nil
	}
	return diags.Warningf(nil, "Resource targeting is in effect",
		"You are creating a plan with the %s option, which means that the result of this plan may not represent all of the changes requested by the current configuration.\n\nThe %[1]s option is not for routine use, and is provided only for exceptional situations such as recovering from errors or mistakes.", option)
}

// partOption names the option that says which part of the configuration is planned; ""
// if all of it is.
func (p *planner) partOption() string {
	switch {
	case len(p.in.Targets) > 0:
		return "-target"
	case len(p.in.Excludes) > 0:
		return "-exclude"
	}
	return ""
}
