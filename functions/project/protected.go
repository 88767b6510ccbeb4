package project

import "github.com/lockstep-iac/lockstep/functions/project/requirements"

// Protected returns the requirements for an apply of a project that come from GitHub environments. s comes from
// the base branch, and base are the projects there. The base branch decides which environment the project has.
// made is the GitHub environment that the base branch gave to the project's plan; "" if it gave none. The rules
// of made count, too. So neither a new name nor a change of the settings frees a plan from its rules.
func (s *Settings) Protected(p Project, base []Project, made string) (out []requirements.Requirement) {
	add := func(name, at string) {
		for _, r := range out {
			if r.Environment == name {
				return
			}
		}
		if name != "" {
			out = append(out, requirements.Requirement{Command: "apply", At: at, Rules: requirements.Rules{Environment: name}})
		}
	}
	if s != nil {
		known := s.known(p)
		for _, x := range base {
			if x.Name == p.Name || x.Dir == p.Dir && x.Workspace == p.Workspace {
				known = append(known, x)
			}
		}
		if len(known) == 0 {
			known = []Project{s.defaults}
		}
		for _, x := range known {
			if e, ok := s.environments[x.Environment]; ok {
				add(e.GitHub(), line(e.At))
			}
		}
	}
	add(made, FileName)
	return out
}
