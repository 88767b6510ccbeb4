package eval

import (
	"cmp"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"

	"github.com/lockstep-iac/lockstep/engine/config"
	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/engine/marks"
)

// A Result is the outcome of one condition. Status is "" if the condition was not evaluated, because
// something that it depends on failed.
type Result struct {
	Status Status
	// Message is the error message of a failed condition. Problem is the same text for the stored results; ""
	// if the text is secret or unknown.
	Message, Problem string
	Context          *hcl.EvalContext
	Diags            diags.Diagnostics
}

// condition evaluates a condition. ctx has all values that the condition and its message refer to.
func (l limits) condition(c *config.Condition, ctx *hcl.EvalContext) Result {
	v, hs := l.value(c.Condition, ctx, nil)
	// The message is always evaluated: it must be valid even if it is not needed.
	m, more := l.errorMessage(c, ctx)
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

// unsuitable adds an error about the value of a condition.
func (r Result) unsuitable(c *config.Condition, summary, problem string) Result {
	d := diags.Errorf(c.Condition.Range().Ptr(), summary, "%s", problem)
	d[0].Expression, d[0].EvalContext = c.Condition, r.Context
	r.Diags = append(r.Diags, d...)
	return r
}

// noMessage is stored instead of a message that could not be evaluated.
const noMessage = "Failed to evaluate condition error message."

// validation evaluates one validation rule of a variable. As in Terraform 1.11, it is less strict than other
// conditions: a condition that cannot be evaluated has no result, the message matters only if it is needed,
// and a failure with a null message is still a failure.
func (l limits) validation(c *config.Condition, ctx *hcl.EvalContext) Result {
	v, hs := l.value(c.Condition, ctx, nil)
	r := Result{Context: ctx, Diags: diags.FromHCL(hs)}
	text := cty.StringVal("")
	if c.ErrorMessage != nil {
		text, hs = l.value(c.ErrorMessage, ctx, nil)
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
		m, more := l.errorMessage(c, ctx)
		if r.Diags = append(r.Diags, more...); m.text == "" {
			m = message{noMessage, noMessage}
		}
		// The stored result of a validation has the text that replaces a secret message. Other conditions store
		// no text for a secret message. Source: Terraform 1.16.
		r.Message, r.Problem = m.text, cmp.Or(m.problem, m.text)
	}
	return r
}

// truth returns the status that follows from the value of a condition. For a value that cannot be a condition,
// the status is Errored and problem says what is wrong; otherwise problem is "".
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
		return Errored, "Invalid condition result value: " + diags.WithoutType(err.Error()+".")
	}
	if v.True() {
		return Pass, ""
	}
	return Fail, ""
}

// A message is an error message: text is for people. problem is for the stored results; "" if the text is
// secret or unknown.
type message struct{ text, problem string }

// errorMessage evaluates the error_message of a condition.
func (l limits) errorMessage(c *config.Condition, ctx *hcl.EvalContext) (message, diags.Diagnostics) {
	if c.ErrorMessage == nil {
		return message{text: "The condition is not met."}, nil
	}
	v, hs := l.value(c.ErrorMessage, ctx, nil)
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

// refersToSelf reports whether a condition or its message refers to its own object.
func refersToSelf(c *config.Condition) bool {
	return slices.ContainsFunc(expressions(c), func(x hcl.Expression) bool {
		return slices.ContainsFunc(x.Variables(), func(t hcl.Traversal) bool { return t.RootName() == "self" })
	})
}

// expressions returns the expressions of a condition block: the condition itself, and the error message if
// there is one.
func expressions(c *config.Condition) []hcl.Expression {
	if c.ErrorMessage == nil {
		return []hcl.Expression{c.Condition}
	}
	return []hcl.Expression{c.Condition, c.ErrorMessage}
}
