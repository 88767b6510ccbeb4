package project

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"github.com/lockstep-iac/lockstep/functions/project/environments"
	"github.com/lockstep-iac/lockstep/functions/project/grammar"
)

func line(at hcl.Range) string { return fmt.Sprintf("%s:%d", at.Filename, at.Start.Line) }

// environments parses the environment blocks. A block with errors exists, and grants nothing.
func (p *parser) environments(blocks hcl.Blocks) {
	for _, b := range blocks {
		e, ds := environments.Parse(b)
		p.diags = append(p.diags, ds...)
		if old, ok := p.settings.environments[e.Name]; ok {
			p.errorf(b.DefRange, "Two environments with one name", "There is another environment %q at %s: merge the two, or give one of them another name.", e.Name, old.At)
			continue
		}
		p.settings.environments[e.Name] = e
	}
}

// shared parses the arguments about a project's environment, variables and backend.
func (p *parser) shared(attrs hcl.Attributes, x *Project) {
	p.decode(attrs["environment"], &x.Environment, "a text")
	if a := attrs["environment"]; a != nil {
		if _, ok := p.settings.environments[x.Environment]; !ok {
			p.errorf(a.Expr.Range(), "No such environment", "There is no block environment %q in %s. %s", x.Environment, FileName, p.settings.others())
		}
	}
	for name, into := range map[string]*map[string]json.RawMessage{"variables": &x.Variables, "backend_config": &x.BackendConfig} {
		v, ok := p.value(attrs[name], grammar.Project.Arg(name))
		if !ok {
			continue
		}
		*into = v.JSON()
		if name != "backend_config" {
			continue
		}
		x.BackendFiles = nil
		for _, f := range v.List() {
			x.BackendFiles = append(x.BackendFiles, p.path(quoted{f.Text(), f.At}, "file"))
		}
	}
}

func (p *parser) value(a *hcl.Attribute, arg grammar.Argument) (grammar.Value, bool) {
	if a == nil {
		return grammar.Value{}, false
	}
	v, ds := arg.Read(a)
	p.diags = append(p.diags, ds...)
	return v, !ds.HasErrors()
}

// others names the existing environments.
func (s *Settings) others() string {
	names := slices.Sorted(maps.Keys(s.environments))
	if len(names) == 0 {
		return "Add it, or remove the argument."
	}
	return fmt.Sprintf("There are %s: name one of them, or add the block.", strings.Join(names, ", "))
}
