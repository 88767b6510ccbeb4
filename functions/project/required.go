package project

import (
	"slices"

	"github.com/lockstep-iac/lockstep/functions/project/endpoints"
	"github.com/lockstep-iac/lockstep/functions/project/requirements"
)

// Required returns the requirements for a command and a project of a pull request. s comes from the base
// branch. base are the projects on the base branch that the caller knows in addition to the projects in s.
//
// A requirement for some projects matches a project by its name or directory. The name or directory may be that
// in the pull request, or that on the base branch. A project that the base branch does not have matches every
// requirement, so a new name evades none.
func (s *Settings) Required(command string, p Project, base []Project) []requirements.Requirement {
	if s == nil {
		return nil
	}
	names, new := s.names(p, base)
	var out []requirements.Requirement
	for _, r := range s.Require {
		if (r.Step == nil || r.Step.Judges()) && r.About(command, names, new) {
			out = append(out, r)
		}
	}
	return out
}

// StepsOf returns the steps for a moment and a project of a pull request. They are matched as in [Settings.Required].
func (s *Settings) StepsOf(on requirements.Moment, p Project, base []Project) (out []requirements.Step) {
	if s == nil {
		return nil
	}
	names, new := s.names(p, base)
	for _, r := range s.Require {
		if r.Step != nil && r.Step.On == on && requirements.Selects(r.Projects, names, new) {
			out = append(out, *r.Step)
		}
	}
	return out
}

// HooksOf returns the hooks for an event and a project of a pull request. They are matched as in
// [Settings.Required].
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

// Tells reports whether a notification must be sent for an outcome of a project of a pull request. Projects are
// matched as in [Settings.Required].
func (s *Settings) Tells(n endpoints.Notification, o endpoints.Outcome, p Project, base []Project) bool {
	names, new := s.names(p, base)
	return slices.Contains(n.On, o) && requirements.Selects(n.Projects, names, new)
}

// names returns the names and directories by which patterns match a project. new is set if the base branch does
// not have the project.
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
			names = append(names, w.nameOf(p.Dir))
		}
		if w.names(p.Name) {
			names = append(names, w.dirOf(p.Name))
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

// HasSteps reports whether there is a step block for one of these moments.
func (s *Settings) HasSteps(on ...requirements.Moment) bool {
	return s != nil && slices.ContainsFunc(s.Require, func(r requirements.Requirement) bool { return r.Step != nil && slices.Contains(on, r.Step.On) })
}

// RequiresSome reports whether a requirement for a command applies only to some projects. If so, the caller
// must know the base branch's projects.
func (s *Settings) RequiresSome(command string) bool {
	return s != nil && slices.ContainsFunc(s.Require, func(r requirements.Requirement) bool { return r.Command == command && r.Projects != nil })
}
