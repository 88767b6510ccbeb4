package project

import (
	"slices"

	"github.com/lockstep-iac/lockstep/functions/project/order"
)

// ApplyOn returns when a project of a pull request is applied: after a comment, or on the merge. s comes from
// the base branch.
//
// The base branch may have no project with this name, or with this directory and workspace. Then all its
// projects are checked. If one of them is applied on merge, the new project is, too. So a new name does not
// evade the rule.
//
// A project is also applied on merge if it depends on a project that is applied on merge. Before the merge, it
// could never be applied.
func (s *Settings) ApplyOn(p Project) ApplyOn {
	if s == nil {
		return OnComment
	}
	known := s.known(p)
	if len(known) == 0 {
		known = append(known, s.defaults)
		known = append(known, s.Projects...)
		for _, w := range s.wildcards {
			known = append(known, w.Project)
		}
	}
	if s.lands(known, map[string]bool{}) {
		return OnMerge
	}
	return OnComment
}

// lands reports whether at least one of the given projects is applied on merge, or depends on a project that
// is. seen are the names and patterns that were checked before.
func (s *Settings) lands(all []Project, seen map[string]bool) bool {
	return slices.ContainsFunc(all, func(x Project) bool {
		return x.Apply == OnMerge || slices.ContainsFunc(x.DependsOn, func(on string) bool {
			if seen[on] {
				return false
			}
			seen[on] = true
			return s.lands(s.selectedBy(on), seen)
		})
	})
}

// selectedBy returns the projects, and the blocks for many directories, that a name or a pattern in depends_on
// selects. Such a name or pattern selects a block for many directories in two cases: it matches the block's own
// name, or it is the name of a project that the block would make.
func (s *Settings) selectedBy(on string) (out []Project) {
	for _, x := range s.Projects {
		if len(order.Matches(on, []string{x.Name})) > 0 {
			out = append(out, x)
		}
	}
	for _, w := range s.wildcards {
		if len(order.Matches(on, []string{w.Name})) > 0 || !order.Set(on) && len(out) == 0 && w.names(on) {
			out = append(out, w.Project)
		}
	}
	return out
}

// known returns the projects and the blocks for many directories that have a project's name, or its directory
// and workspace. A block for many directories counts only if it would make the project. If the project's
// directory has a block of its own, the block for many directories does not make it.
func (s *Settings) known(p Project) []Project {
	var out []Project
	named, placed := false, false
	for _, x := range s.Projects {
		name, place := x.Name == p.Name, x.Dir == p.Dir && x.Workspace == p.Workspace
		if name || place {
			out = append(out, x)
		}
		named, placed = named || name, placed || place
	}
	for _, w := range s.wildcards {
		if !named && w.names(p.Name) || !placed && w.Workspace == p.Workspace && w.holds(p.Dir) {
			out = append(out, w.Project)
		}
	}
	return out
}
