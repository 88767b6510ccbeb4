package project

import (
	"fmt"
	"io/fs"
	"slices"
)

// Deployment returns the name of the Lockstep deployment that works for a project of a pull request; "" is the
// deployment without a name. s comes from the base commit, and base are the projects there.
//
// A project belongs to the deployment of the environment that the base branch gives it, until another
// environment is merged. If the base branch does not have the project, the environment that the project itself
// names counts. So all deployments on a repository agree about a project, and no pull request moves a project
// to another deployment.
func (s *Settings) Deployment(p Project, base []Project) string {
	if !s.Divides() {
		return ""
	}
	name := p.Environment
	switch known := s.standing(p, base); {
	case len(known) > 0:
		name = known[0].Environment
	case name == "":
		name = s.defaults.Environment
	}
	return s.environments[name].Deployment()
}

// Divides reports whether some environment names a deployment. Otherwise the deployment without a name works
// for all projects.
func (s *Settings) Divides() bool { return len(s.Deployments()) > 0 }

// Deployments returns the names of all possible deployments, in order, including the deployment without a
// name. It returns nil if no environment names a deployment.
func (s *Settings) Deployments() []string {
	if s == nil {
		return nil
	}
	all := []string{""}
	for _, e := range s.environments {
		all = append(all, e.Deployment())
	}
	slices.Sort(all)
	if all = slices.Compact(all); len(all) == 1 {
		return nil
	}
	return all
}

// Deployments returns the names of the deployments that work for the projects of a checkout, by project name.
// It uses the checkout's own settings. It returns nil if these settings name no deployment. For a pull request,
// the base branch counts instead: see [Settings.Deployment].
func Deployments(files fs.FS, all []Project) map[string]string {
	src, err := fs.ReadFile(files, FileName)
	if err != nil {
		return nil
	}
	s, _ := Parse(FileName, src)
	if !s.Divides() {
		return nil
	}
	out := map[string]string{}
	for _, p := range all {
		out[p.Name] = s.Deployment(p, nil)
	}
	return out
}

// standing returns the projects of the base branch that correspond to a project of a pull request. It searches
// the settings, and base, the projects that Discover found on the base branch.
func (s *Settings) standing(p Project, base []Project) []Project {
	out := s.known(p)
	for _, x := range base {
		if x.Name == p.Name || x.Dir == p.Dir && x.Workspace == p.Workspace {
			out = append(out, x)
		}
	}
	return out
}

// elsewhere returns an error which says that another deployment works for a project. by is that deployment, and
// asked is the deployment of this process.
func elsewhere(p Project, by, asked string) error {
	return fmt.Errorf("on the base branch, %[2]s serves the project %[1]s, and this is %[3]s. Look for the plan in the comments and checks of %[2]s", p.Name, DeploymentName(by), DeploymentName(asked))
}

// DeploymentName returns the name of a deployment for a sentence.
func DeploymentName(name string) string {
	if name == "" {
		return "the deployment without a name"
	}
	return fmt.Sprintf("the deployment %q", name)
}
