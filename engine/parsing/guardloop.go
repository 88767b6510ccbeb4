package parsing

import (
	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"github.com/lockstep-iac/lockstep/engine/budget"
)

// A loop is a for expression that counts its elements.
type loop struct {
	*hclsyntax.ForExpr
	text bool // a loop of a template: its elements become one text
}

// Value implements hcl.Expression.
func (l *loop) Value(ctx *hcl.EvalContext) (cty.Value, hcl.Diagnostics) {
	r := &round{at: l.SrcRange, text: l.text}
	r.b, r.fresh = of(ctx)
	e := *l.ForExpr
	e.ValExpr = &element{e.ValExpr, r}
	if e.KeyExpr != nil {
		e.KeyExpr = &elementKey{e.KeyExpr, r}
	}
	if e.CondExpr != nil {
		e.CondExpr = &filter{e.CondExpr, r}
	}
	v, ds := e.Value(ctx)
	if r.excess != nil {
		return failed(r.b, r.excess, l.SrcRange)
	}
	return v, ds
}

// A round is one evaluation of a loop.
type round struct {
	b      *budget.Budget
	fresh  bool // the loops within do not know b yet
	at     hcl.Range
	text   bool
	length int64 // of the text
	size   budget.Sum
	told   int // errors
	excess *budget.Excess
}

// maxErrors is how many errors a loop tells of.
const maxErrors = 100

// begin begins one iteration's part and reports whether the loop goes on.
func (r *round) begin(ctx *hcl.EvalContext, steps int64) bool {
	if r.excess != nil {
		return false
	}
	if r.excess = r.b.Step(steps); r.excess != nil {
		return false
	}
	if r.fresh && ctx.Variables != nil { // the child context is made for this iteration
		r.b.Put(ctx.Variables)
	}
	return true
}

// errors returns those of an iteration that are told.
func (r *round) errors(ds hcl.Diagnostics) hcl.Diagnostics {
	if r.told += len(ds); r.told > maxErrors && ds.HasErrors() {
		return nil // HCL has enough of them to know that the loop failed
	}
	return ds
}

// add counts an element.
func (r *round) add(v cty.Value) {
	r.excess = r.size.Add(r.b, v)
	if r.excess == nil && r.text {
		r.length += textBytes(v)
		r.excess = r.b.CheckText(r.length)
	}
	if r.excess == nil {
		r.excess = r.b.Made(budget.Size{Values: 1})
	}
	what := "The result of the for expression"
	if r.text {
		what = "The text of the template's loop"
	}
	r.excess = r.excess.Of(what)
}

// An element is the result of one iteration of a loop.
type element struct {
	hclsyntax.Expression
	r *round
}

// Value implements hcl.Expression.
func (e *element) Value(ctx *hcl.EvalContext) (cty.Value, hcl.Diagnostics) {
	if !e.r.begin(ctx, 1) {
		return cty.DynamicVal, nil
	}
	v, ds := e.Expression.Value(ctx)
	if !ds.HasErrors() {
		e.r.add(v)
	}
	return v, e.r.errors(ds)
}

// UnwrapExpression is for HCL's static analyses.
func (e *element) UnwrapExpression() hcl.Expression { return e.Expression }

// An elementKey is the key of an element.
type elementKey struct {
	hclsyntax.Expression
	r *round
}

// Value implements hcl.Expression.
func (e *elementKey) Value(ctx *hcl.EvalContext) (cty.Value, hcl.Diagnostics) {
	if !e.r.begin(ctx, 1) {
		return cty.UnknownVal(cty.String), nil
	}
	v, ds := e.Expression.Value(ctx)
	if !ds.HasErrors() {
		e.r.size.Bytes += textBytes(v)
	}
	return v, e.r.errors(ds)
}

// UnwrapExpression is for HCL's static analyses.
func (e *elementKey) UnwrapExpression() hcl.Expression { return e.Expression }

// A filter is the condition of a loop.
type filter struct {
	hclsyntax.Expression
	r *round
}

// Value implements hcl.Expression.
func (f *filter) Value(ctx *hcl.EvalContext) (cty.Value, hcl.Diagnostics) {
	if !f.r.begin(ctx, 1) {
		return cty.False, nil // on to the end
	}
	v, ds := f.Expression.Value(ctx)
	return v, f.r.errors(ds)
}

// UnwrapExpression is for HCL's static analyses.
func (f *filter) UnwrapExpression() hcl.Expression { return f.Expression }

// textBytes returns how long a value is as text, 0 if it cannot be one.
func textBytes(v cty.Value) int64 {
	v, _ = v.Unmark()
	switch {
	case !v.IsKnown() || v.IsNull():
		return 0
	case v.Type() == cty.String:
		return int64(len(v.AsString()))
	case v.Type() == cty.Number:
		return budget.Digits(v.AsBigFloat())
	}
	return int64(len("false"))
}
