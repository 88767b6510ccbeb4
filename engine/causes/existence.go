package causes

import (
	"maps"
	"path"
	"slices"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/config"
	"github.com/lockstep-iac/lockstep/engine/plans"
)

// existence searches why the plan creates, destroys, forgets, moves or imports an object, or replaces it for
// another reason than an attribute.
func (s *search) existence(t *trail, c *plans.ResourceChange) {
	i := c.Addr.Instance
	if c.PrevAddr != i && c.PrevAddr != (addrs.AbsResourceInstance{}) {
		s.moved(t, c)
	}
	if c.Importing != nil {
		s.imported(t, i)
	}
	switch {
	case c.Action == plans.Create && c.Importing == nil:
		s.created(t, i)
	case c.Action == plans.Delete, c.Action == plans.Forget:
		s.gone(t, i)
	case c.Action.IsReplace():
		s.triggers(t, c)
	}
}

// created searches the lines that make an instance: its block, the blocks of the modules around it, and what
// repeats them.
func (s *search) created(t *trail, i addrs.AbsResourceInstance) {
	m := s.Config.Modules[i.Module.Module()]
	if m == nil || m.Resources[i.Resource.Resource] == nil {
		return
	}
	r := m.Resources[i.Resource.Resource]
	s.header(t, r.Range)
	s.repetition(t, i.Module, &r.Repetition, i.Resource.Key)
	s.calls(t, i.Module, m)
}

// header looks at the header of a block. If the input has no edits, the header is always a place.
func (s *search) header(t *trail, r hcl.Range) { s.here(t, r, true) }

// calls searches the lines that make an instance of a module.
func (s *search) calls(t *trail, in addrs.ModuleInstance, m *config.Module) {
	for ; m != nil && m.Parent != nil; m = m.Parent {
		parent, name, key := in.Call()
		next := &trail{t, Step{Name: "module." + name, Module: parent}}
		s.here(next, m.Call.Range, false)
		s.here(next, m.Call.SourceRange, false)
		s.repetition(next, parent, &m.Call.Repetition, key)
		in = parent
	}
}

// repetition searches why a repeated block has, or no longer has, an instance.
func (s *search) repetition(t *trail, in addrs.ModuleInstance, by *config.Repetition, key addrs.InstanceKey) {
	for _, e := range by.Expressions() {
		var p cty.Path
		if e == by.ForEach && !key.IsNone() {
			p = cty.Path{cty.IndexStep{Key: key.Value()}}
		}
		s.expression(t, scope{in: in}, e, p)
	}
}

// gone searches why an object has no configuration any more.
func (s *search) gone(t *trail, i addrs.AbsResourceInstance) {
	in := i.Module.Module()
	m := s.Config.Modules[in]
	for m == nil && !in.IsRoot() { // the innermost module that still exists lost a call
		parent, call := in.Call()
		if m = s.Config.Modules[parent]; m != nil {
			s.removedBlock(t, m, "module", call)
			s.removedBy(t, i)
			return
		}
		in = parent
	}
	if m == nil {
		return
	}
	r := m.Resources[i.Resource.Resource]
	if r == nil {
		s.removedBlock(t, m, "resource", i.Resource.Resource.Type, i.Resource.Resource.Name)
		s.removedBy(t, i)
		return
	}
	s.repetition(t, i.Module, &r.Repetition, i.Resource.Key)
	if i.Resource.Key.IsNone() != (len(r.Repetition.Expressions()) == 0) { // count or for_each was added or removed
		s.removedFrom(t, bodyRange(r.Body, r.Range), "count")
		s.removedFrom(t, bodyRange(r.Body, r.Range), "for_each")
	}
	s.calls(t, i.Module, m)
}

// removedBlock looks for the removed lines of a block in the files of a module.
func (s *search) removedBlock(t *trail, m *config.Module, kind string, labels ...string) {
	is := blockLine(kind, labels...)
	for _, file := range slices.Sorted(maps.Keys(s.Edits)) {
		if path.Dir(file) != path.Clean(m.Dir) {
			continue
		}
		for _, r := range s.Edits.removed(wholeFile(file), is) {
			s.place(t, r)
		}
	}
}

// removedBy looks at the removed blocks that name an object.
func (s *search) removedBy(t *trail, i addrs.AbsResourceInstance) {
	for _, m := range s.Config.Order {
		for _, x := range m.Removed {
			in, r := x.Static(m.Addr)
			if r == i.Resource.Resource && in == i.Module.Module() || r == (addrs.Resource{}) && in.Contains(i.Module.Module()) {
				s.here(t, x.Range, true)
				s.here(t, x.FromRange, false)
			}
		}
	}
}

// moved looks at the moved blocks that may have led to the object's address.
func (s *search) moved(t *trail, c *plans.ResourceChange) {
	for _, m := range s.Config.Order {
		if !m.Addr.Contains(c.Addr.Instance.Module.Module()) {
			continue
		}
		for _, x := range m.Moved {
			if x.To.Resource != (addrs.Resource{}) && x.To.Resource != c.Addr.Instance.Resource.Resource {
				continue
			}
			for _, r := range []hcl.Range{x.Range, x.FromRange, x.ToRange} {
				s.here(t, r, r == x.Range)
			}
		}
	}
}

// imported looks at the import blocks of a resource.
func (s *search) imported(t *trail, i addrs.AbsResourceInstance) {
	for _, x := range s.Config.Imports() {
		if x.Target != i.AbsResource().Config() {
			continue
		}
		s.here(t, x.Range, true)
		for _, e := range []hcl.Expression{x.To, x.ID, x.Identity, x.ForEach} {
			if e != nil {
				s.here(t, e.Range(), false)
			}
		}
	}
}

// triggers follows replace_triggered_by.
func (s *search) triggers(t *trail, c *plans.ResourceChange) {
	i := c.Addr.Instance
	m := s.Config.Modules[i.Module.Module()]
	if c.Reason != plans.ReasonReplaceByTriggers || m == nil || m.Resources[i.Resource.Resource] == nil {
		return
	}
	r := m.Resources[i.Resource.Resource]
	for _, e := range r.ReplaceTriggeredBy {
		s.expression(t, scope{i.Module, &r.Repetition, i.Resource.Key}, e, nil)
	}
}

// lockFile has the versions of providers.
const lockFile = ".terraform.lock.hcl"

// provider is for changes of attributes that the resource's own block does not set. It searches the
// configuration of the object's provider. It also searches the version of that provider, if a provider
// has a new version.
func (s *search) provider(t *trail, c *plans.ResourceChange) {
	i := c.Addr.Instance
	m := s.Config.Modules[i.Module.Module()]
	if m == nil || m.Resources[i.Resource.Resource] == nil {
		return
	}
	r := m.Resources[i.Resource.Resource]
	if r.ProviderRange != nil {
		s.here(t, *r.ProviderRange, false)
	}
	if versions := s.Edits.removed(wholeFile(lockFile), assignment("version")); len(versions) == 1 {
		s.place(&trail{t, Step{Name: "provider version"}}, versions[0])
	}
	for _, of := range s.Config.Order {
		p := of.ProviderBlock(c.Provider)
		if p == nil {
			continue
		}
		next := &trail{t, Step{Name: "provider." + p.Addr.String()}}
		all := variablesOf(p.Body)
		s.here(next, bodyRange(p.Body, p.Range), false)
		for _, v := range all {
			s.reference(next, scope{}, v, nil)
		}
	}
}
