package eval

import (
	"slices"

	"github.com/zclconf/go-cty/cty"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/config"
	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/engine/marks"
	"github.com/lockstep-iac/lockstep/engine/refs"
)

// Output returns an output value as the caller of the module sees it, with the marks of its declaration.
func (e *Evaluator) Output(in addrs.ModuleInstance, name string) (cty.Value, diags.Diagnostics) {
	c, ds := e.get(cellKey{in, addrs.KindOutput, name}, func(c *cell) diags.Diagnostics {
		return e.output(c, in, e.frame(in).module.Outputs[name])
	})
	return c.val, ds
}

// output evaluates an output value into its cell. It evaluates the preconditions first. If they are not met,
// it does not evaluate the value, since they state when the value makes sense.
func (e *Evaluator) output(c *cell, in addrs.ModuleInstance, o *config.Output) diags.Diagnostics {
	if in.IsRoot() && o.Ephemeral && !o.Tested {
		return diags.Errorf(&o.Range, "Ephemeral output not allowed",
			"The outputs of the root module are kept in the state, which an ephemeral value must not be. Take out ephemeral = true, and do not use ephemeral values for it.")
	}
	if x := e.frame(in).module.Replacement(in); x != nil {
		if c.val = x.Output(o.Name); o.Sensitive {
			c.val = c.val.Mark(marks.Sensitive)
		}
		return nil
	}
	scope := Scope{Module: in, name: cellKey{in, addrs.KindOutput, o.Name}}
	if ds := e.ready(o, scope); ds.HasErrors() {
		return ds // the conditions have no result in this case
	}
	ds := e.Conditions(o.Preconditions, scope, OutputSubject(in.Module(), in, o), "Module output value precondition failed")
	if ds.HasErrors() {
		return ds
	}
	val, more := e.Expr(o.Expr, named(in, addrs.KindOutput, o.Name))
	if ds = append(ds, more...); ds.HasErrors() {
		return ds
	}
	val, err := o.Convert(val)
	if err != nil {
		rng := o.Expr.Range()
		return append(ds, diags.Errorf(&rng, "Invalid output value", "The value does not fit the type of the output: %s.", err)...)
	}
	if ds = append(ds, e.phase.checkOutputMarks(in, o, val)...); ds.HasErrors() {
		return ds
	}
	if o.Ephemeral && e.phase.OpaqueModules {
		val = cty.DynamicVal // without the ephemeral mark: planning checks the restrictions of ephemeral values
	}
	if o.Sensitive {
		val = val.Mark(marks.Sensitive)
	}
	c.val = val
	return ds
}

// checkOutputMarks checks the marks of an output's value against the output's declaration.
func (p *Phase) checkOutputMarks(in addrs.ModuleInstance, o *config.Output, val cty.Value) diags.Diagnostics {
	rng := o.Expr.Range()
	switch {
	case !o.Ephemeral && marks.Contains(val, ephemeral):
		return diags.Errorf(&rng, "Ephemeral value not allowed",
			"This output value is not declared as returning an ephemeral value, so it cannot be set to a result derived from an ephemeral value.")
	case o.Ephemeral && !marks.Has(val, ephemeral) && p.marksKnown(o):
		return diags.Errorf(&rng, "Value not allowed in ephemeral output",
			"This output value is declared as returning an ephemeral value, but its value is not ephemeral.")
	case in.IsRoot() && !o.Sensitive && marks.Contains(val, marks.Sensitive):
		return diags.Errorf(&o.Range, "Output refers to sensitive values",
			"To reduce the risk of accidentally exporting sensitive data that was intended to be only internal, any root module output containing sensitive data must be explicitly marked as sensitive, to confirm your intent.\n\nIf you do intend to export this data, annotate the output value as sensitive by adding the following argument:\n    sensitive = true")
	}
	return nil
}

// marksKnown reports whether the value of an output has all its marks in this phase. If module calls are
// opaque (OpaqueModules), their values have no marks, and neither have local values that contain them.
func (p *Phase) marksKnown(o *config.Output) bool {
	return !p.OpaqueModules || !slices.ContainsFunc(p.Refs.OfExpr(o.Expr), func(r refs.Reference) bool {
		return r.Object.Kind == addrs.KindCall || r.Object.Kind == addrs.KindLocal
	})
}

// ready evaluates everything that an output and its preconditions refer to, and returns the errors. For an
// output without preconditions it does nothing.
func (e *Evaluator) ready(o *config.Output, s Scope) diags.Diagnostics {
	if len(o.Preconditions) == 0 {
		return nil
	}
	_, ds := e.context(e.phase.Refs.OfExpr(o.Expr), s)
	return append(ds, e.conditions.ready(o.Preconditions, s)...)
}
