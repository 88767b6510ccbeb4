package parsing

import (
	"maps"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"github.com/lockstep-iac/lockstep/engine/budget"
)

// A loop is a for expression that ends with an error if it makes too many elements.
type loop struct {
	*hclsyntax.ForExpr
	text bool // the loop is in a template: its elements become one text
}

// UnwrapExpression returns the original expression. HCL's static analyses call it.
func (l *loop) UnwrapExpression() hcl.Expression { return l.ForExpr }

// Value implements hcl.Expression. It evaluates the loop within the budget.
func (l *loop) Value(ctx *hcl.EvalContext) (cty.Value, hcl.Diagnostics) {
	r := &round{loop: l, text: l.text}
	r.b, r.fresh = budgetOf(ctx)
	e := *l.ForExpr
	e.CollExpr = &collection{e.CollExpr, r}
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
	return v, r.discreet(ds)
}

// A round is one evaluation of a loop.
type round struct {
	loop   *loop
	b      *budget.Budget
	fresh  bool // loops inside this loop do not have b yet
	text   bool
	length int64 // of the text
	size   budget.Sum
	told   int // number of reported errors
	excess *budget.Excess

	marks     cty.ValueMarks // marks of the collection, which HCL removes from its elements
	secretKey bool           // some element's key has a mark
}

// discreet returns ds with secrets hidden in the errors of the loop itself, such as the error about a key
// that occurs twice.
func (r *round) discreet(ds hcl.Diagnostics) hcl.Diagnostics {
	if len(r.marks) == 0 && !r.secretKey {
		return ds
	}
	for i, d := range ds {
		switch x := d.Expression.(type) {
		case *elementKey:
			if x.r != r {
				continue
			}
		case *filter:
			if x.r != r {
				continue
			}
		default:
			continue
		}
		hidden := *d
		hidden.EvalContext = r.marked(d.EvalContext)
		if d.Summary == "Duplicate object key" {
			hidden.Detail = "Two different items produced the same key in this 'for' expression. The key may be sensitive or ephemeral, so Lockstep does not show it. If duplicates are expected, use the ellipsis (...) after the value expression to enable grouping by key."
		}
		ds[i] = &hidden
	}
	return ds
}

// marked returns the context of one iteration with the collection's marks on the loop's variables.
func (r *round) marked(ctx *hcl.EvalContext) *hcl.EvalContext {
	if ctx == nil || ctx.Parent() == nil {
		return ctx
	}
	out := ctx.Parent().NewChild()
	out.Variables = maps.Clone(ctx.Variables)
	for _, name := range []string{r.loop.KeyVar, r.loop.ValVar} {
		if v, ok := out.Variables[name]; ok {
			out.Variables[name] = v.WithMarks(r.marks)
		}
	}
	return out
}

// evaluate evaluates an expression for one iteration. If that fails, it evaluates the expression again with
// the collection's marks on the loop's variables, so that the errors show no secrets.
func (r *round) evaluate(x hcl.Expression, ctx *hcl.EvalContext) (cty.Value, hcl.Diagnostics) {
	v, ds := x.Value(ctx)
	if ds.HasErrors() && len(r.marks) > 0 {
		if _, again := x.Value(r.marked(ctx)); again.HasErrors() {
			ds = again
		}
	}
	return v, r.errors(ds)
}

// A collection is the collection expression of a loop. It records the marks of its value.
type collection struct {
	hclsyntax.Expression
	r *round
}

// Value implements hcl.Expression. It evaluates the collection and records its marks.
func (c *collection) Value(ctx *hcl.EvalContext) (cty.Value, hcl.Diagnostics) {
	v, ds := c.Expression.Value(ctx)
	c.r.marks = v.Marks()
	return v, ds
}

// UnwrapExpression returns the original expression. HCL's static analyses call it.
func (c *collection) UnwrapExpression() hcl.Expression { return c.Expression }

// maxErrors is the number of errors of one loop that are reported.
const maxErrors = 100

// begin counts steps, and reports whether the loop may continue. Each part of an iteration calls it first.
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

// errors returns the errors of an iteration. After maxErrors it returns none.
func (r *round) errors(ds hcl.Diagnostics) hcl.Diagnostics {
	if r.told += len(ds); r.told > maxErrors && ds.HasErrors() {
		return nil // HCL has enough of them to know that the loop failed
	}
	return ds
}

// add counts a new element against the limits. If a limit is passed, it sets r.excess.
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

// Value implements hcl.Expression. It evaluates one element and counts it.
func (e *element) Value(ctx *hcl.EvalContext) (cty.Value, hcl.Diagnostics) {
	if !e.r.begin(ctx, 1) {
		return cty.DynamicVal, nil
	}
	v, ds := e.r.evaluate(e.Expression, ctx)
	if !ds.HasErrors() {
		e.r.add(v)
	}
	return v, ds
}

// UnwrapExpression returns the original expression. HCL's static analyses call it.
func (e *element) UnwrapExpression() hcl.Expression { return e.Expression }

// An elementKey is the key expression of a loop.
type elementKey struct {
	hclsyntax.Expression
	r *round
}

// Value implements hcl.Expression. It evaluates the key of one element and counts it.
func (e *elementKey) Value(ctx *hcl.EvalContext) (cty.Value, hcl.Diagnostics) {
	if !e.r.begin(ctx, 1) {
		return cty.UnknownVal(cty.String), nil
	}
	v, ds := e.r.evaluate(e.Expression, ctx)
	if !ds.HasErrors() {
		e.r.size.Bytes += textBytes(v)
	}
	e.r.secretKey = e.r.secretKey || v.IsMarked()
	return v, ds
}

// UnwrapExpression returns the original expression. HCL's static analyses call it.
func (e *elementKey) UnwrapExpression() hcl.Expression { return e.Expression }

// A filter is the condition of a loop.
type filter struct {
	hclsyntax.Expression
	r *round
}

// Value implements hcl.Expression. It evaluates the condition for one element.
func (f *filter) Value(ctx *hcl.EvalContext) (cty.Value, hcl.Diagnostics) {
	if !f.r.begin(ctx, 1) {
		return cty.False, nil // skip all remaining elements
	}
	return f.r.evaluate(f.Expression, ctx)
}

// UnwrapExpression returns the original expression. HCL's static analyses call it.
func (f *filter) UnwrapExpression() hcl.Expression { return f.Expression }

// textBytes returns the length of a value as text; 0 if it cannot be a text.
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
