package parsing

import (
	"errors"
	"fmt"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"

	"github.com/lockstep-iac/lockstep/engine/marks"
)

// harmless reports whether the message of d certainly contains no part of a value. Two kinds of messages are
// harmless: those about a null argument, and those about converting an argument to its parameter's type that
// quote nothing. err is the error that the function returned; nil for a conversion. Source: go-cty 1.19,
// cty/function/function.go, cty/convert.
func harmless(d *hcl.Diagnostic, err error) bool {
	if err != nil {
		return err.Error() == "argument must not be null"
	}
	_, reason, _ := strings.Cut(d.Detail, " parameter: ")
	return !strings.Contains(reason, `"`)
}

// discreet returns the diagnostics of a failed call. If any argument is sensitive or ephemeral, it hides the
// reason in the call's own diagnostics: functions put parts of their arguments into their errors. Diagnostics
// of the arguments' expressions stay as they are.
func (c *call) discreet(ctx *hcl.EvalContext, ds hcl.Diagnostics) hcl.Diagnostics {
	for i, d := range ds {
		extra, ok := hcl.DiagnosticExtra[hclsyntax.FunctionCallDiagExtra](d)
		if !ok || extra.CalledFunctionName() != c.Name || !c.about(d) {
			continue
		}
		err := extra.FunctionCallError()
		var panicked function.PanicError
		switch {
		case errors.As(err, &panicked):
			ds[i] = c.crash(ctx, panicked.Value)
		case !harmless(d, err) && c.secret(ctx):
			ds[i] = withoutReason(d, c.Name)
		}
	}
	return ds
}

func withoutReason(d *hcl.Diagnostic, name string) *hcl.Diagnostic {
	hidden := *d
	hidden.Detail = fmt.Sprintf("Call to function %q failed. The reason may contain an argument that is sensitive or ephemeral, so Lockstep does not show it. To see the reason, try the call in `lockstep console` with a value that is no secret.", name)
	return &hidden
}

// Hide changes ds in place so that they show no value whose marks HCL removed during the evaluation, as HCL
// does with the for_each of a dynamic block. It removes the reasons that functions gave for their failures.
// It also puts marks on the variables of each diagnostic's context, and of its parent contexts below ctx.
func Hide(ds hcl.Diagnostics, ctx *hcl.EvalContext, marks cty.ValueMarks) {
	for i, d := range ds {
		hidden := *d
		if extra, ok := hcl.DiagnosticExtra[hclsyntax.FunctionCallDiagExtra](d); ok && !harmless(d, extra.FunctionCallError()) {
			hidden = *withoutReason(d, extra.CalledFunctionName())
		}
		hidden.EvalContext = markedUpTo(d.EvalContext, ctx, marks)
		ds[i] = &hidden
	}
}

func markedUpTo(ctx, end *hcl.EvalContext, marks cty.ValueMarks) *hcl.EvalContext {
	if ctx == nil || ctx == end {
		return ctx
	}
	out := markedUpTo(ctx.Parent(), end, marks).NewChild()
	out.Functions, out.Variables = ctx.Functions, map[string]cty.Value{}
	for name, v := range ctx.Variables {
		out.Variables[name] = v.WithMarks(marks)
	}
	return out
}

// about reports whether a diagnostic is about this call, rather than about another call in its arguments.
func (c *call) about(d *hcl.Diagnostic) bool {
	at := c.Range()
	return d.Context != nil && *d.Context == at || d.Subject != nil && *d.Subject == at
}

// secret reports whether any argument has a sensitive or ephemeral part. It evaluates the arguments again.
func (c *call) secret(ctx *hcl.EvalContext) bool {
	for _, x := range c.Args {
		if v, _ := x.Value(ctx); marks.Any(v) {
			return true
		}
	}
	return false
}

// crashed returns the diagnostic of a call that panicked.
func (c *call) crashed(ctx *hcl.EvalContext, value any) hcl.Diagnostics {
	return hcl.Diagnostics{c.crash(ctx, value)}
}

func (c *call) crash(ctx *hcl.EvalContext, value any) *hcl.Diagnostic {
	reason := fmt.Sprintf(": %v", value)
	if c.secret(ctx) {
		reason = ""
	}
	return &hcl.Diagnostic{
		Severity: hcl.DiagError, Summary: "Error in function call",
		Detail:  fmt.Sprintf("The function %q crashed%s. This is a bug in Lockstep: please report it, with the arguments of this call.", c.Name, reason),
		Subject: c.Range().Ptr(), Expression: c.FunctionCallExpr, EvalContext: ctx,
	}
}
