package eval

import (
	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/lockstep-iac/lockstep/engine/config"
	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/engine/refs"
)

// Typed evaluates an expression that is not part of the configuration, such as one typed by a person. It
// evaluates the expression as if it were in the module of the scope.
func (e *Evaluator) Typed(x hcl.Expression, s Scope) (cty.Value, diags.Diagnostics) {
	list, ds := e.typedRefs(x, s)
	if ds.HasErrors() {
		return cty.DynamicVal, ds
	}
	v, more := e.value(x, list, s)
	return v, append(ds, more...)
}

// Assert evaluates a condition that is not part of the configuration, such as one of a test. It evaluates the
// condition as if it were in the module of the scope. It records nothing. Root names in [Scope.Extra] hide the
// same root names of the module. For example, a test refers to outputs by the name output.
func (e *Evaluator) Assert(c *config.Condition, s Scope) Result {
	var all []refs.Reference
	for _, x := range expressions(c) {
		list, ds := e.typedRefs(x, s)
		if ds.HasErrors() {
			return unevaluated(ds)
		}
		all = append(all, list...)
	}
	ctx, ds := e.context(all, s)
	if ds.HasErrors() {
		return unevaluated(ds)
	}
	return e.limits.condition(c, ctx)
}

// typedRefs resolves the references of an expression that is not part of the configuration.
func (e *Evaluator) typedRefs(x hcl.Expression, s Scope) (list []refs.Reference, ds diags.Diagnostics) {
	m := e.frame(s.Module).module
	for _, t := range x.Variables() {
		if _, extra := s.Extra[t.RootName()]; extra {
			continue
		}
		r, ok, more := refs.Resolve(m, t)
		ds = append(ds, more...)
		if ok {
			list = append(list, r)
		}
	}
	return list, append(ds, checkScope(x.Variables(), s)...)
}
