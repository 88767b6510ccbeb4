package eval

import (
	"cmp"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/config"
	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/engine/refs"
)

// Conditions evaluates the conditions of one object, records the results, and
// returns errors headed by summary for those that failed: warnings for check blocks,
// and for all where [Phase.ConditionsWarn] is set.
func (e *Evaluator) Conditions(cs []*config.Condition, s Scope, about Subject, summary string) diags.Diagnostics {
	var ds diags.Diagnostics
	for _, c := range cs {
		if e.phase.AssertionsUnevaluated && about.Kind == KindCheck {
			ds = append(ds, e.assertion(c, s)...)
			continue
		}
		r := e.Evaluate(c, s)
		ds = append(ds, r.Diags...)
		e.results.add(about, cmp.Or(r.Status, Unknown), r.Problem)
		rng := c.Condition.Range()
		if r.Status == Unknown && about.Kind == KindCheck {
			ds = append(ds, diags.Warningf(&rng, "Check block assertion known after apply",
				"The condition depends on values that are not known until apply, so the check is made then.")...)
		}
		if r.Status == Fail {
			d := diags.Errorf(&rng, summary, "%s", r.Message)
			d[0].Expression, d[0].EvalContext = c.Condition, r.Context
			if about.Kind == KindCheck || e.phase.ConditionsWarn {
				d[0].Severity = diags.Warning
			}
			ds = append(ds, d...)
		}
	}
	return ds
}

// Evaluate evaluates one condition by itself and records nothing.
func (e *Evaluator) Evaluate(c *config.Condition, s Scope) Result {
	if s.SelfGone && refersToSelf(c) {
		return Result{Status: Errored}
	}
	ctx, ds := e.conditionContext(c, s, "")
	if ds.HasErrors() {
		return unevaluated(ds)
	}
	return e.limits.condition(c, ctx)
}

// unevaluated is the result of a condition whose references have errors. If they are reported
// elsewhere, the condition itself has no status.
func unevaluated(ds diags.Diagnostics) Result {
	if len(ds.Unreported()) == 0 {
		return Result{Diags: ds}
	}
	return Result{Status: Errored, Diags: ds}
}

// assertion returns the errors that an assertion of a check block has with any values. As in
// Terraform they are few, so that it fails no plan without them: its references must exist, and its
// message must be valid.
func (e *Evaluator) assertion(c *config.Condition, s Scope) diags.Diagnostics {
	ctx, ds := e.conditionContext(c, s, "")
	if ds.HasErrors() {
		return ds
	}
	_, more := e.limits.errorMessage(c, ctx)
	return append(ds, more...)
}

// conditionContext returns the context for both expressions of a condition, without the variable
// called except.
func (e *Evaluator) conditionContext(c *config.Condition, s Scope, except string) (*hcl.EvalContext, diags.Diagnostics) {
	var rs []refs.Reference
	var ts []hcl.Traversal
	for _, x := range expressions(c) {
		ts = append(ts, x.Variables()...)
		for _, r := range e.phase.Refs.OfExpr(x) {
			if r.Object.Kind != addrs.KindVariable || r.Object.Name != except {
				rs = append(rs, r)
			}
		}
	}
	if ds := checkScope(ts, s); ds.HasErrors() {
		return nil, ds
	}
	return e.context(rs, s)
}

// validation evaluates one validation rule of a variable, whose value is val: asked for by its name it
// would wait for this very rule.
func (e *Evaluator) validation(c *config.Condition, in addrs.ModuleInstance, name string, val cty.Value) Result {
	s := Scope{Module: in}
	ctx, ds := e.conditionContext(c, s, name)
	if ds.HasErrors() {
		return unevaluated(ds)
	}
	vars := map[string]cty.Value{}
	for c := ctx; c != nil; c = c.Parent() {
		if others, ok := c.Variables["var"]; ok {
			vars = others.AsValueMap()
			break
		}
	}
	vars[name] = val
	child := ctx.NewChild() // the context itself may be shared
	child.Variables = map[string]cty.Value{"var": cty.ObjectVal(vars)}
	return e.limits.validation(c, child)
}
