package project

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/functions/project/environments"
	"github.com/lockstep-iac/lockstep/functions/project/grammar"
)

func line(at hcl.Range) string { return fmt.Sprintf("%s:%d", at.Filename, at.Start.Line) }

// environments parses the environment blocks. A block with errors counts as existing, but grants nothing.
func (p *parser) environments(blocks hcl.Blocks) {
	for _, b := range blocks {
		e, ds := environments.Parse(b)
		p.diags = append(p.diags, ds...)
		if old, ok := p.settings.environments[e.Name]; ok {
			p.errorf(b.DefRange, "Two environments with one name", "Another environment %q is at %s. Merge the two, or give one of them another name.", e.Name, old.At)
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
			p.errorf(a.Expr.Range(), "No such environment", "No environment block in %[2]s has the name %[1]q.%[3]s", x.Environment, FileName, p.settings.remedy(x.Environment))
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

// remedy returns the advice about the name of an environment that does not exist. The advice has the nearest
// name of an environment, or the first names.
func (s *Settings) remedy(name string) string {
	names := slices.Sorted(maps.Keys(s.environments))
	if near := diags.Suggest(name, slices.Values(names)); near != "" || len(names) == 0 {
		return near + " Correct the name, add the block, or remove the argument."
	}
	more := ""
	if n := len(names) - mostNames; n > 0 {
		names, more = names[:mostNames], fmt.Sprintf(" and %d more", n)
	}
	return fmt.Sprintf(" The environments are %s%s. Write one of these names, or add the block.", strings.Join(names, ", "), more)
}

// mostNames is the maximum number of environments that an error lists.
const mostNames = 10
