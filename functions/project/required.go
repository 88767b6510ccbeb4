package project

import (
	"slices"

	"github.com/lockstep-iac/lockstep/functions/project/endpoints"
	"github.com/lockstep-iac/lockstep/functions/project/requirements"
)

// Required returns the requirements for a command and a project of a pull request, where s comes from
// the base branch. base are the projects there, as far as they are known beside s. A requirement for some projects is
// found by the name and the directory of the project, and by those that the base branch has for it;
// for a project that the base branch does not know each is one: no pull request evades a requirement
// by a new name.
func (s *Settings) Required(command string, p Project, base []Project) []requirements.Requirement {
	if s == nil {
		return nil
	}
	names, new := s.names(p, base)
	var out []requirements.Requirement
	for _, r := range s.Require {
		if r.About(command, names, new) {
			out = append(out, r)
		}
	}
	return out
}

// HooksOf returns the hooks of an event for a project of a pull request, by the rules of [Settings.Required].
func (s *Settings) HooksOf(e endpoints.HookEvent, p Project, base []Project) []endpoints.Hook {
	if s == nil {
		return nil
	}
	names, new := s.names(p, base)
	var out []endpoints.Hook
	for _, h := range s.Hooks {
		if slices.Contains(h.On, e) && requirements.Selects(h.Projects, names, new) {
			out = append(out, h)
		}
	}
	return out
}

// Tells reports whether a notification is about an outcome of a project of a pull request, by the rules of
// [Settings.Required].
func (s *Settings) Tells(n endpoints.Notification, o endpoints.Outcome, p Project, base []Project) bool {
	names, new := s.names(p, base)
	return slices.Contains(n.On, o) && requirements.Selects(n.Projects, names, new)
}

// names are the names and directories by which patterns select a project, and new is set for one that the base branch
// does not know.
func (s *Settings) names(p Project, base []Project) (names []string, new bool) {
	names, known := []string{p.Name, p.Dir}, s.known(p)
	for _, x := range base {
		if x.Name == p.Name || x.Dir == p.Dir && x.Workspace == p.Workspace {
			known = append(known, x)
		}
	}
	for _, x := range known {
		names = append(names, x.Name, x.Dir)
	}
	for _, w := range s.wildcards {
		if w.holds(p.Dir) {
			names = append(names, w.of(p.Dir))
		}
		if w.names(p.Name) {
			names = append(names, w.in(p.Name))
		}
	}
	return names, len(known) == 0
}

// HasPolicies reports whether there is a policy block.
func (s *Settings) HasPolicies() bool {
	return s != nil && slices.ContainsFunc(s.Require, func(r requirements.Requirement) bool { return r.Policy != nil })
}

// HasGates reports whether there is a gate block.
func (s *Settings) HasGates() bool {
	return s != nil && slices.ContainsFunc(s.Require, func(r requirements.Requirement) bool { return r.Gate != nil })
}

// RequiresSome reports whether there is a requirement for a command that is for some projects only, so
// that the base branch's projects matter.
func (s *Settings) RequiresSome(command string) bool {
	return s != nil && slices.ContainsFunc(s.Require, func(r requirements.Requirement) bool { return r.Command == command && r.Projects != nil })
}
