package project

import (
	"fmt"

	"github.com/lockstep-iac/lockstep/functions/project/environments"
)

// A Grantee says for which pull request and deployment a project needs its rights.
type Grantee struct {
	Branch     string    // the base branch of the pull request
	Base       []Project // the projects at the base commit
	Deployment string    // the deployment that runs the project
}

// Grant returns the rights of a pull request's project. s comes from the base commit. A project has the
// environment that the base branch gives it, until another one is merged. A project that the base branch does
// not have may use any environment there. The error is a sentence for people that tells them what to do.
func (s *Settings) Grant(p Project, to Grantee) (environments.Granted, error) {
	if by := s.Deployment(p, to.Base); by != to.Deployment {
		return environments.Granted{}, elsewhere(p, by, to.Deployment)
	}
	if s == nil {
		if p.Environment == "" {
			return environments.Granted{}, nil
		}
		s = &Settings{}
	}
	known := s.standing(p, to.Base)
	if len(known) == 0 && p.Environment == "" {
		known = []Project{s.defaults}
	}
	for _, x := range known {
		if x.Environment != p.Environment {
			return environments.Granted{}, fmt.Errorf("the pull request gives the project %s %s (%s), but the base branch gives it %s (%s), and only the base branch grants roles and secrets. Merge the change of %s first, then comment lockstep plan",
				p.Name, named(p.Environment), where(p), named(x.Environment), where(x), FileName)
		}
	}
	if p.Environment == "" {
		return environments.Granted{}, nil
	}
	e, ok := s.environments[p.Environment]
	if !ok {
		return environments.Granted{}, fmt.Errorf("the project %s uses the environment %q (%s), which the base branch does not have, and only the base branch grants roles and secrets. Merge the block environment %[2]q first, then comment lockstep plan", p.Name, p.Environment, where(p))
	}
	return e.Grant(to.Branch)
}

func named(environment string) string {
	if environment == "" {
		return "no environment"
	}
	return fmt.Sprintf("the environment %q", environment)
}

func where(p Project) string {
	if p.At == "" {
		return FileName
	}
	return p.At
}
