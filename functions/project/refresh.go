package project

import (
	"cmp"

	"github.com/hashicorp/hcl/v2"

	"github.com/lockstep-iac/lockstep/functions/project/environments"
	"github.com/lockstep-iac/lockstep/functions/project/grammar"
)

// Refresh says which objects and data sources a plan reads from their providers.
type Refresh = environments.Refresh

// refresh reads the arguments refresh and refresh_data.
func (p *parser) refresh(attrs hcl.Attributes, x *Project) {
	for name, to := range map[string]*environments.Reads{"refresh": &x.Refresh.Objects, "refresh_data": &x.Refresh.Data} {
		if v, ok := p.value(attrs[name], grammar.Project.Arg(name)); ok {
			*to = environments.Reads(v.Text())
		}
	}
}

// RefreshOf returns what plans of a project read. s comes from the base branch: a pull request cannot make its own plans
// read less. If the base branch has no project with this name, or with this directory and workspace, its defaults
// decide. If several blocks match, all of them must agree to read less. A plan in shadow mode reads everything, as the
// other tool does.
func (s *Settings) RefreshOf(p Project) Refresh {
	if s == nil {
		return Refresh{}
	}
	known := s.known(p)
	if len(known) == 0 {
		x := s.defaults
		x.Refresh = Refresh{}
		known = append(known, x)
	}
	var out Refresh
	for i, x := range known {
		of := s.environments[x.Environment].Refresh
		r := Refresh{
			Objects: cmp.Or(x.Refresh.Objects, of.Objects, s.defaults.Refresh.Objects),
			Data:    cmp.Or(x.Refresh.Data, of.Data, s.defaults.Refresh.Data),
		}
		if x.Mode == modeShadow {
			r = Refresh{}
		}
		if i == 0 {
			out = r
			continue
		}
		if r.Objects != environments.Affected {
			out.Objects = r.Objects
		}
		if r.Data != environments.Affected {
			out.Data = r.Data
		}
	}
	return out
}
