package eval

import (
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/config"
	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/engine/marks"
	"github.com/lockstep-iac/lockstep/engine/refs"
)

// Status is what became of a condition. The values are those of the state and
// plan formats.
type Status string

const (
	Pass    Status = "pass"
	Fail    Status = "fail"
	Errored Status = "error"
	Unknown Status = "unknown"
)

// A Result is what became of one condition. Status is "" if it was not evaluated,
// because something that it depends on failed.
type Result struct {
	Status Status
	// Message says what is wrong, if it failed; Problem is the same for the record, ""
	// if it may not be told or is not known.
	Message, Problem string
	Context          *hcl.EvalContext
	Diags            diags.Diagnostics
}

// Evaluate evaluates one condition by itself and records nothing.
func (e *Evaluator) Evaluate(c *config.Condition, s Scope) Result { return e.condition(c, s, nil) }

// condition evaluates one condition. own is the variable that it validates.
func (e *Evaluator) condition(c *config.Condition, s Scope, own *variable) Result {
	ctx, ds := e.conditionContext(c, s, own)
	if ds.HasErrors() {
		if len(ds.Unreported()) == 0 {
			return Result{Diags: ds}
		}
		return Result{Status: Errored, Diags: ds}
	}
	r := Result{Context: ctx, Status: Errored}
	v, hs := c.Condition.Value(ctx)
	r.Diags = diags.FromHCL(hs)
	if e.w.Static { // a message must make sense, even if it is not known whether it is needed
		_, _, more := errorMessage(c, ctx)
		r.Diags = append(r.Diags, more...)
	}
	bad := func(detail string) Result {
		d := diags.Errorf(c.Condition.Range().Ptr(), "Invalid condition result", "%s", detail)
		d[0].Expression, d[0].EvalContext = c.Condition, ctx
		r.Diags = append(r.Diags, d...)
		return r
	}
	if r.Diags.HasErrors() {
		return r
	}
	v, _ = v.Unmark()
	if !v.IsKnown() {
		r.Status = Unknown
		return r
	}
	if v.IsNull() {
		return bad("Condition expression must return either true or false, not null.")
	}
	v, err := convert.Convert(v, cty.Bool)
	if err != nil {
		return bad("Invalid condition result value: " + err.Error() + ".")
	}
	v, _ = v.Unmark()
	if !v.IsKnown() {
		r.Status = Unknown
		return r
	}
	if v.True() {
		r.Status = Pass
		return r
	}
	r.Status = Fail
	var more diags.Diagnostics
	if r.Message, r.Problem, more = errorMessage(c, ctx); !e.w.Static {
		r.Diags = append(r.Diags, more...)
	}
	return r
}

// conditionContext returns the context for both expressions of a condition.
func (e *Evaluator) conditionContext(c *config.Condition, s Scope, own *variable) (*hcl.EvalContext, diags.Diagnostics) {
	var rs []refs.Reference
	var ts []hcl.Traversal
	for _, x := range []hcl.Expression{c.Condition, c.ErrorMessage} {
		if x == nil {
			continue
		}
		ts = append(ts, x.Variables()...)
		for _, r := range e.w.Refs.OfExpr(x) {
			if own == nil || r.Object.Kind != addrs.KindVariable || r.Object.Name != own.name {
				rs = append(rs, r)
			}
		}
	}
	if ds := checkScope(ts, s); ds.HasErrors() {
		return nil, ds
	}
	ctx, ds := e.context(rs, s)
	if ds.HasErrors() || own == nil {
		return ctx, ds
	}
	vars := map[string]cty.Value{}
	if old, ok := ctx.Variables["var"]; ok {
		vars = old.AsValueMap()
	}
	vars[own.name] = own.val
	ctx.Variables["var"] = cty.ObjectVal(vars)
	return ctx, ds
}

// errorMessage evaluates an error_message: for people, and for the record.
func errorMessage(c *config.Condition, ctx *hcl.EvalContext) (message, problem string, ds diags.Diagnostics) {
	const fallback = "This check failed, but has an invalid error message as described in the other accompanying messages."
	if c.ErrorMessage == nil {
		return "The condition is not met.", "", nil
	}
	v, hs := c.ErrorMessage.Value(ctx)
	ds = diags.FromHCL(hs)
	rng := c.ErrorMessage.Range()
	if ds.HasErrors() {
		return fallback, "", ds
	}
	if marks.Contains(v, marks.Sensitive) {
		return "The error message included a sensitive value, so it will not be displayed.", "", append(ds, diags.Warningf(&rng,
			"Error message refers to sensitive values",
			"The error expression used to explain this condition refers to sensitive values, so the message will not be displayed. Use an error_message that does not expose sensitive data: pass the non-sensitive parts only.")...)
	}
	if marks.Contains(v, ephemeral) {
		return "The error message included an ephemeral value, so it will not be displayed.", "", append(ds, diags.Warningf(&rng,
			"Error message refers to ephemeral values",
			"The error expression used to explain this condition refers to ephemeral values, so the message will not be displayed.")...)
	}
	v, _ = v.UnmarkDeep()
	v, err := convert.Convert(v, cty.String)
	switch {
	case err != nil:
		return fallback, "", append(ds, diags.Errorf(&rng, "Invalid error message", "Unsuitable value for error message: %s.", err)...)
	case !v.IsKnown():
		return "The error message depends on values that are not known yet.", "", ds
	case v.IsNull():
		return fallback, "", append(ds, diags.Errorf(&rng, "Invalid error message", "Unsuitable value for error message: it is null.")...)
	}
	message = strings.TrimSpace(v.AsString())
	return message, message, ds
}
