package project

import (
	"slices"

	"github.com/hashicorp/hcl/v2"

	"github.com/lockstep-iac/lockstep/functions/project/projectinputs"
)

// inputs parses the inputs of a project block. A project depends on the projects whose outputs it uses. A
// variable with an input must not have another value in the same block.
func (p *parser) inputs(b *hcl.Block, attrs hcl.Attributes, x *Project) {
	a := attrs["inputs"]
	if a == nil {
		return
	}
	src := p.settings.Files[b.DefRange.Filename].Bytes
	all, ds := projectinputs.Parse(src, a)
	p.diags = append(p.diags, ds...)
	for _, l := range all {
		if _, too := x.Variables[l.Variable]; too && attrs["variables"] != nil {
			p.errorf(l.Range(), "Variable with two values", "The project %q sets the variable %q in inputs and in variables. Remove one of the two.", x.Name, l.Variable)
		}
		for _, r := range l.References() {
			if !validName(r.Project) {
				p.errorf(r.At, "Unknown project", "An input of the project %q uses the outputs of %q, and no project can have this name. Write the name of one project.", x.Name, r.Project)
				continue
			}
			if !slices.Contains(x.DependsOn, r.Project) {
				x.DependsOn = append(x.DependsOn, r.Project)
				p.settings.depends[[2]string{x.At, r.Project}] = dependence{at: r.At, input: true}
			}
		}
	}
	x.Inputs = all
}
