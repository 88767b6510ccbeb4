package eval

import (
	"cmp"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/config"
	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/engine/marks"
	"github.com/lockstep-iac/lockstep/engine/refs"
)

// conditions evaluates conditions, and records their results. [Evaluator] embeds it, with its exported
// methods. From the rest of the evaluator it uses only the values of references.
//
// A condition that is not met has one of three causes. If the condition is false, the error has the author's
// message. If the condition cannot be evaluated, the error is about the condition. If its references failed,
// that failure is reported already, and the condition has no result: a consequence must not look like a
// second cause.
// Source: Terraform 1.11.4, which records the same statuses.
type conditions struct {
	phase  *Phase
	limits limits
	values func([]refs.Reference, Scope) (*hcl.EvalContext, diags.Diagnostics)
	results
}

// Conditions evaluates the conditions of one object and records the results. It returns an error with the
// given summary for each failed condition. For check blocks it returns warnings instead. If
// [Phase.ConditionsWarn] is set, it returns warnings for all objects.
func (x *conditions) Conditions(cs []*config.Condition, s Scope, about Subject, summary string) diags.Diagnostics {
	var ds diags.Diagnostics
	for _, c := range cs {
		if x.phase.AssertionsUnevaluated && about.Kind == KindCheck {
			ds = append(ds, x.assertion(c, s)...)
			continue
		}
		r := x.Evaluate(c, s)
		ds = append(ds, r.Diags...)
		x.results.add(about, cmp.Or(r.Status, Unknown), r.Problem)
		rng := c.Condition.Range()
		if r.Status == Unknown && about.Kind == KindCheck {
			ds = append(ds, diags.Warningf(&rng, "Check block assertion known after apply",
				"The condition depends on values that are not known until apply, so the check is made then.")...)
		}
		if r.Status == Fail {
			d := diags.Errorf(&rng, summary, "%s", r.Message)
			d[0].Expression, d[0].EvalContext, d[0].Failed = c.Condition, r.Context, about.Object
			if x.phase.ValidationsWarn {
				d[0].Severity = diags.Warning
				d[0].Detail += " The plan destroys, so Lockstep goes on with this value."
			}
			if about.Kind == KindCheck || x.phase.ConditionsWarn {
				d[0].Severity = diags.Warning
			}
			ds = append(ds, d...)
		}
	}
	return ds
}

// Evaluate evaluates one condition and records nothing.
func (x *conditions) Evaluate(c *config.Condition, s Scope) Result {
	if s.SelfGone && refersToSelf(c) {
		return Result{Status: Errored}
	}
	ctx, ds := x.conditionContext(c, s, "")
	if ds.HasErrors() {
		return unevaluated(ds)
	}
	return x.limits.condition(c, ctx)
}

// unevaluated returns the result of a condition that cannot be evaluated because its references have the errors ds. The
// status is Errored. It is empty if all these errors are reported elsewhere.
func unevaluated(ds diags.Diagnostics) Result {
	if len(ds.Unreported()) == 0 {
		return Result{Diags: ds}
	}
	return Result{Status: Errored, Diags: ds}
}

// assertion returns the errors that an assertion of a check block has with any values. As in Terraform there
// are only two kinds: a reference to something that does not exist, and an invalid message.
func (x *conditions) assertion(c *config.Condition, s Scope) diags.Diagnostics {
	ctx, ds := x.conditionContext(c, s, "")
	if ds.HasErrors() {
		return ds
	}
	_, more := x.limits.errorMessage(c, ctx)
	return append(ds, more...)
}

// conditionContext returns the context for the expressions of a condition. It leaves out the variable that
// the parameter except names.
func (x *conditions) conditionContext(c *config.Condition, s Scope, except string) (*hcl.EvalContext, diags.Diagnostics) {
	var rs []refs.Reference
	var ts []hcl.Traversal
	for _, y := range expressions(c) {
		ts = append(ts, y.Variables()...)
		for _, r := range x.phase.Refs.OfExpr(y) {
			if r.Object.Kind != addrs.KindVariable || r.Object.Name != except {
				rs = append(rs, r)
			}
		}
	}
	if ds := checkScope(ts, s); ds.HasErrors() {
		return nil, ds
	}
	return x.values(rs, s)
}

// validation evaluates one validation rule of a variable whose value is val. The rule must not get the value
// by the variable's name: that would wait for this very rule.
func (x *conditions) validation(c *config.Condition, in addrs.ModuleInstance, name string, val cty.Value) Result {
	s := Scope{Module: in}
	ctx, ds := x.conditionContext(c, s, name)
	if ds.HasErrors() {
		return unevaluated(ds)
	}
	vars := map[string]cty.Value{}
	if others, ok := ctx.Variables["var"]; ok {
		vars = others.AsValueMap()
	}
	vars[name] = val
	child := ctx.NewChild() // The context may be shared, so the value is set in a child of the context.
	child.Variables = map[string]cty.Value{"var": cty.ObjectVal(vars)}
	return x.limits.validation(c, child)
}

// InvalidValue is the summary of the diagnostic about a variable's value that fails a validation.
const InvalidValue = "Invalid value for variable"

// validate evaluates the validation rules of a variable. A failure is an error about the value, at rng; while
// destroying, it is a warning.
func (x *conditions) validate(in addrs.ModuleInstance, v *config.Variable, val cty.Value, rng *hcl.Range) diags.Diagnostics {
	if v.Sensitive {
		val = val.Mark(marks.Sensitive) // no message may show it
	}
	if v.Ephemeral {
		val = val.Mark(ephemeral) // so that no record stores the value
	}
	var ds diags.Diagnostics
	for _, c := range v.Validations {
		r := x.validation(c, in, v.Name, val)
		ds = append(ds, r.Diags...)
		x.results.add(VariableSubject(in.Module(), in, v), cmp.Or(r.Status, Unknown), r.Problem)
		if r.Status == Fail {
			d := diags.Errorf(rng, InvalidValue, "%s\n\nThis was checked by the validation rule at %s:%d,%d-%d.",
				r.Message, c.Range.Filename, c.Range.Start.Line, c.Range.Start.Column, c.Range.End.Column)
			d[0].Expression, d[0].EvalContext, d[0].Failed = c.Condition, r.Context, VariableSubject(in.Module(), in, v).Object
			if x.phase.ValidationsWarn {
				d[0].Severity = diags.Warning
				d[0].Detail += " The plan destroys, so Lockstep goes on with this value."
			}
			ds = append(ds, d...)
		}
	}
	return ds
}

// ready evaluates everything that the conditions and their messages refer to, and returns the errors.
func (x *conditions) ready(cs []*config.Condition, s Scope) diags.Diagnostics {
	var ds diags.Diagnostics
	for _, c := range cs {
		for _, y := range expressions(c) {
			_, more := x.values(x.phase.Refs.OfExpr(y), s)
			ds = append(ds, more...)
		}
	}
	return ds
}
