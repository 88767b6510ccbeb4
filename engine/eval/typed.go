package eval

import (
	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

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
		r, ok, more := refs.Resolve(m, t)
		ds = append(ds, more...)
		if !ok {
			continue
		}
		list = append(list, r)
	}
	if ds.HasErrors() {
		return cty.DynamicVal, ds
	}
	v, more := e.value(x, list, s)
	return v, append(ds, more...)
}
