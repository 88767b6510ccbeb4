package project

import "github.com/lockstep-iac/lockstep/functions/project/environments"

// HasImages reports whether an environment names an image of its own.
func (s *Settings) HasImages() bool {
	if s == nil {
		return false
	}
	for _, e := range s.environments {
		if e.Image() != "" {
			return true
		}
	}
	return false
}

// Runner returns the machine for the plans and applies of a project that the base branch has. s comes from the base commit.
// The zero value means that the project is new, or has no right to its environment; [Settings.Grant] says why.
func (s *Settings) Runner(p Project, to Grantee) environments.Runner {
	for _, x := range s.standing(p, to.Base) {
		if g, err := s.Grant(x, to); err == nil {
			return g.Runner()
		}
	}
	return environments.Runner{}
}
