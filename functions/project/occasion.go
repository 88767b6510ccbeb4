package project

import (
	"slices"
)

// ApplyOn returns the occasion on which a project of a pull request is applied, where s comes from
// the base branch. A project that the base branch does not have, neither by name nor by directory
// and workspace, is applied as carefully as any other there: no pull request evades the merge by a
// new name.
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
	if slices.ContainsFunc(known, func(x Project) bool { return x.Apply == OnMerge }) {
		return OnMerge
	}
	return OnComment
}

// known returns the projects and the blocks for many directories that have the name of a project, or
// its directory and workspace. Of the latter only those count that would make it: a block for one
// directory takes that directory out of them.
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
