package projectinputs

import (
	"maps"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/lockstep-iac/lockstep/engine/budget"
	"github.com/lockstep-iac/lockstep/engine/diags"
)

// Value evaluates an input. known are the outputs of projects, by the projects' names. The outputs of other
// projects are unknown. If the expression uses an output that is unknown, the value is unknown, too. If the
// output has marks, the value has these marks, too. Errors contain no values.
func (l Link) Value(b *budget.Budget, known map[string]map[string]cty.Value) (cty.Value, diags.Diagnostics) {
	e, hs := l.parse()
	if hs.HasErrors() {
		return cty.DynamicVal, diags.FromHCL(hs)
	}
	references, hs := referencesOf(e)
	ds := diags.FromHCL(hs)
	projects := map[string]cty.Value{}
	for _, r := range references {
		of, ok := known[r.Project]
		if !ok {
			projects[r.Project] = cty.DynamicVal
			continue
		}
		if _, ok := of[r.Output]; !ok && r.Output != "" {
			ds = append(ds, diags.Errorf(&r.At, "No such output", "The project %q has no output %q. %s", r.Project, r.Output, remedy(of))...)
		}
		projects[r.Project] = cty.ObjectVal(map[string]cty.Value{outputs: cty.ObjectVal(of)})
	}
	if ds.HasErrors() {
		return cty.DynamicVal, ds
	}
	v, hs := e.Value(scope(b, cty.ObjectVal(projects)))
	for _, d := range hs {
		d.EvalContext, d.Expression = nil, nil // they contain values that would be shown
	}
	if hs.HasErrors() {
		v = cty.DynamicVal
	}
	return v, diags.FromHCL(hs)
}

// remedy returns a sentence that names the existing outputs.
func remedy(of map[string]cty.Value) string {
	if len(of) == 0 {
		return "It has no outputs. Declare the output there, and apply that project."
	}
	return "It has " + strings.Join(slices.Sorted(maps.Keys(of)), ", ") + ". Correct the name, or declare the output there and apply that project."
}

// scope returns the scope for the evaluation of an expression. The name project in the expression has the value
// of the parameter project.
func scope(b *budget.Budget, project cty.Value) *hcl.EvalContext {
	variables := map[string]cty.Value{root: project}
	b.Put(variables)
	return &hcl.EvalContext{Variables: variables}
}
