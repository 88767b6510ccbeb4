package project

import "slices"

// Tests reports whether Lockstep runs the tests of a project of a pull request. s comes from the base branch.
// If the base branch has no project with this name, or with this directory and workspace, its defaults decide.
func (s *Settings) Tests(p Project) bool {
	if s == nil {
		return false
	}
	known := s.known(p)
	if len(known) == 0 {
		return s.defaults.Test
	}
	return slices.ContainsFunc(known, func(x Project) bool { return x.Test })
}
