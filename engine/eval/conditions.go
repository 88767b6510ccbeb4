package eval

import (
	"slices"
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
	if s.SelfGone && mentionsSelf(c) {
		return Result{Status: Errored}
	}
	ctx, ds := e.conditionContext(c, s, own)
	if ds.HasErrors() {
		if len(ds.Unreported()) == 0 {
			return Result{Diags: ds}
		}
		return Result{Status: Errored, Diags: ds}
	}
	if own != nil {
		return e.validation(c, ctx)
	}
	v, hs := e.bounded(c.Condition, ctx, nil)
	// The message is evaluated in any case: it must make sense, whether it is needed or not.
	m, more := e.errorMessage(c, ctx)
	r := Result{Status: Errored, Context: ctx, Diags: append(diags.FromHCL(hs), more...)}
	if r.Diags.HasErrors() {
		return r
	}
	status, problem := truth(v)
	if problem != "" {
		return r.unsuitable(c, "Invalid condition result", problem)
	}
	if r.Status = status; status == Fail {
		r.Message, r.Problem = m.text, m.problem
	}
	return r
}

// unsuitable adds what is wrong with a condition's value.
func (r Result) unsuitable(c *config.Condition, summary, problem string) Result {
	d := diags.Errorf(c.Condition.Range().Ptr(), summary, "%s", problem)
	d[0].Expression, d[0].EvalContext = c.Condition, r.Context
	r.Diags = append(r.Diags, d...)
	return r
}

// noMessage is what the record has for a message that came to nothing.
const noMessage = "Failed to evaluate condition error message."

// validation evaluates one rule of a variable. As in Terraform 1.11, it is not as strict as
// other conditions: a condition that cannot be evaluated has no result rather than a
// wrong one, the message matters only if it is needed, and one that came to nothing does
// not hide the failure.
func (e *Evaluator) validation(c *config.Condition, ctx *hcl.EvalContext) Result {
	v, hs := e.bounded(c.Condition, ctx, nil)
	r := Result{Context: ctx, Diags: diags.FromHCL(hs)}
	text := cty.StringVal("")
	if c.ErrorMessage != nil {
		text, hs = e.bounded(c.ErrorMessage, ctx, nil)
		r.Diags = append(r.Diags, diags.FromHCL(hs)...)
	}
	if !v.IsKnown() {
		r.Status = Unknown
		return r
	}
	status, problem := truth(v)
	if r.Status = status; problem != "" {
		return r.unsuitable(c, "Invalid variable validation result", problem)
	}
	switch plain := marks.Plain(text); {
	case status != Fail:
	case !plain.IsWhollyKnown():
		r.Status = Errored
		r.Diags = append(r.Diags, diags.Errorf(c.ErrorMessage.Range().Ptr(), "Invalid error message",
			"The value refers to what is not known before apply, and the message is needed now.")...)
	case plain.IsNull():
		r.Message, r.Problem = noMessage, noMessage
	default:
		m, more := e.errorMessage(c, ctx)
		if r.Diags = append(r.Diags, more...); m.text == "" {
			m = message{noMessage, noMessage}
		}
		r.Message, r.Problem = m.text, m.problem
	}
	return r
}

// truth returns what the value of a condition means, or what is wrong with it.
func truth(v cty.Value) (s Status, problem string) {
	v, _ = v.Unmark()
	if !v.IsKnown() {
		return Unknown, ""
	}
	if v.IsNull() {
		return Errored, "Condition expression must return either true or false, not null."
	}
	v, err := convert.Convert(v, cty.Bool)
	if err != nil {
		return Errored, "Invalid condition result value: " + err.Error() + "."
	}
	switch v, _ = v.Unmark(); {
	case !v.IsKnown():
		return Unknown, ""
	case v.True():
		return Pass, ""
	}
	return Fail, ""
}

// mentionsSelf reports whether a condition or its message is about its own object.
func mentionsSelf(c *config.Condition) bool {
	for _, x := range []hcl.Expression{c.Condition, c.ErrorMessage} {
		if x != nil && slices.ContainsFunc(x.Variables(), func(t hcl.Traversal) bool { return t.RootName() == "self" }) {
			return true
		}
	}
	return false
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
	for c := ctx; c != nil; c = c.Parent() {
		if others, ok := c.Variables["var"]; ok {
			vars = others.AsValueMap()
			break
		}
	}
	vars[own.name] = own.val
	child := ctx.NewChild() // the context may be that of many
	child.Variables = map[string]cty.Value{"var": cty.ObjectVal(vars)}
	return child, ds
}

// A message says what is wrong: to people, and for the record ("" if it may not be told,
// or is not known).
type message struct{ text, problem string }

// errorMessage evaluates an error_message.
func (e *Evaluator) errorMessage(c *config.Condition, ctx *hcl.EvalContext) (message, diags.Diagnostics) {
	if c.ErrorMessage == nil {
		return message{text: "The condition is not met."}, nil
	}
	v, hs := e.bounded(c.ErrorMessage, ctx, nil)
	ds := diags.FromHCL(hs)
	rng := c.ErrorMessage.Range()
	if ds.HasErrors() {
		return message{}, ds
	}
	plain := marks.Plain(v)
	plain, err := convert.Convert(plain, cty.String)
	switch {
	case err != nil:
		return message{}, append(ds, diags.Errorf(&rng, "Invalid error message", "Unsuitable value for error message: %s.", err)...)
	case !plain.IsKnown():
		return message{text: "The error message depends on values that are not known yet."}, ds
	case plain.IsNull():
		return message{}, append(ds, diags.Errorf(&rng, "Invalid error message", "Unsuitable value for error message: must not be null.")...)
	case marks.Contains(v, marks.Sensitive):
		return message{text: "The error message included a sensitive value, so it will not be displayed."}, append(ds, diags.Warningf(&rng,
			"Error message refers to sensitive values",
			"The error expression used to explain this condition refers to sensitive values, so the message will not be displayed. Use an error_message that does not expose sensitive data: pass the non-sensitive parts only.")...)
	case marks.Contains(v, ephemeral):
		return message{text: "The error message included an ephemeral value, so it will not be displayed."}, append(ds, diags.Warningf(&rng,
			"Error message refers to ephemeral values",
			"The error expression used to explain this condition refers to ephemeral values, so the message will not be displayed.")...)
	}
	text := strings.TrimSpace(plain.AsString())
	return message{text, text}, ds
}
