package eval

import (
	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/config"
	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/engine/refs"
)

// Typed evaluates an expression that is not part of the configuration, such as one
// that a person has typed in, as if it stood in the module of the scope.
func (e *Evaluator) Typed(x hcl.Expression, s Scope) (cty.Value, diags.Diagnostics) {
	m := e.frame(s.Module).module
	var list []refs.Reference
	var ds diags.Diagnostics
	for _, t := range x.Variables() {
		r, ok, more := refs.Resolve(m.Content, t)
		ds = append(ds, more...)
		if !ok {
			continue
		}
		ds = append(ds, checkOutput(m, &r)...)
		list = append(list, r)
	}
	if ds.HasErrors() {
		return cty.DynamicVal, ds
	}
	v, more := e.value(x, list, s)
	return v, append(ds, more...)
}

// checkOutput reports an output that the module called does not have: for expressions
// of the configuration, refs.Analyze has done so.
func checkOutput(m *config.Module, r *refs.Reference) diags.Diagnostics {
	if r.Object.Kind != addrs.KindCall || r.Output == "" {
		return nil
	}
	if child := m.Children[r.Object.Name]; child == nil || child.Outputs[r.Output] != nil {
		return nil
	}
	return diags.Errorf(&r.Range, "Unsupported attribute",
		"This object does not have an attribute named %q: the module called as %q declares no such output.", r.Output, r.Object.Name)
}
