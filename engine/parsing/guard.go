package parsing

import (
	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"github.com/lockstep-iac/lockstep/engine/budget"
)

// HCL evaluates an expression to its end, at any cost. Expressions that can make much of
// little are therefore replaced in the tree that the parser returns: loops, templates and calls by
// their like that count what they make and stop when the budget of the evaluation says
// so (see budget.Of). Each of them evaluates a copy of the original whose parts count, so
// that what an expression means stays HCL's affair.

// guardBody guards all expressions of a body.
func guardBody(b *hclsyntax.Body) {
	for _, a := range b.Attributes {
		a.Expr = guard(a.Expr)
	}
	for _, block := range b.Blocks {
		guardBody(block.Body)
	}
}

// guard replaces the parts of an expression that can grow, in place, and returns it or its
// replacement.
func guard(x hclsyntax.Expression) hclsyntax.Expression {
	switch x := x.(type) {
	case nil:
		return nil
	case *hclsyntax.LiteralValueExpr:
		return guardLiteral(x)
	case *hclsyntax.TemplateExpr:
		return guardTemplate(x)
	case *hclsyntax.TemplateJoinExpr:
		x.Tuple = guard(x.Tuple)
		if l, ok := x.Tuple.(*loop); ok {
			l.text = true
		}
	case *hclsyntax.ForExpr:
		x.CollExpr, x.ValExpr = checkedLiteral(guard(x.CollExpr)), guard(x.ValExpr)
		x.KeyExpr, x.CondExpr = guard(x.KeyExpr), guard(x.CondExpr)
		return &loop{ForExpr: x}
	case *hclsyntax.FunctionCallExpr:
		return guardCall(x)
	default:
		guardParts(x)
	}
	return x
}

// guardParts is guard for the parts of an expression that does not grow itself.
func guardParts(x hclsyntax.Expression) {
	switch x := x.(type) {
	case *hclsyntax.BinaryOpExpr:
		x.LHS, x.RHS = checkedLiteral(guard(x.LHS)), checkedLiteral(guard(x.RHS))
	case *hclsyntax.UnaryOpExpr:
		x.Val = guard(x.Val)
	case *hclsyntax.ConditionalExpr:
		x.Condition = guard(x.Condition)
		x.TrueResult, x.FalseResult = checkedLiteral(guard(x.TrueResult)), checkedLiteral(guard(x.FalseResult))
	case *hclsyntax.ParenthesesExpr:
		x.Expression = guard(x.Expression)
	case *hclsyntax.IndexExpr:
		x.Collection, x.Key = checkedLiteral(guard(x.Collection)), guard(x.Key)
	case *hclsyntax.RelativeTraversalExpr:
		x.Source = guard(x.Source)
	case *hclsyntax.SplatExpr:
		x.Source, x.Each = checkedLiteral(guard(x.Source)), guard(x.Each)
	case *hclsyntax.TupleConsExpr:
		for i := range x.Exprs {
			x.Exprs[i] = guard(x.Exprs[i])
		}
	case *hclsyntax.ObjectConsExpr:
		for i := range x.Items {
			x.Items[i].KeyExpr, x.Items[i].ValueExpr = guard(x.Items[i].KeyExpr), guard(x.Items[i].ValueExpr)
		}
	case *hclsyntax.ObjectConsKeyExpr:
		x.Wrapped = guard(x.Wrapped)
	case *hclsyntax.TemplateWrapExpr:
		x.Wrapped = guard(x.Wrapped)
	}
}

// literalBudget bounds evaluations without a context: values of variables and
// settings, which are literal, but may be loops.
var literalBudget = func() budget.Limits {
	l := budget.ForMemory(1 << 30)
	l.Steps = 5_000_000
	return l
}()

// of returns the budget of an evaluation, and whether it was made for this one.
func of(ctx *hcl.EvalContext) (*budget.Budget, bool) {
	if b := budget.Of(ctx); b != nil {
		return b, false
	}
	return budget.New(literalBudget), true
}

// failed returns the value in place of one that would be too large.
func failed(b *budget.Budget, x *budget.Excess, at hcl.Range) (cty.Value, hcl.Diagnostics) {
	b.Passed(x)
	return cty.DynamicVal, hcl.Diagnostics{x.Diagnostic(at)}
}

// A literal is a number that is longer as text than in the file, or a text that is a number.
type literal struct{ *hclsyntax.LiteralValueExpr }

// longLiteral is how many digits a literal has at least that is looked at.
const longLiteral = 4096

func guardLiteral(x *hclsyntax.LiteralValueExpr) hclsyntax.Expression {
	switch v := x.Val; {
	case v.IsNull() || !v.IsKnown():
	case v.Type() == cty.Number && budget.Digits(v.AsBigFloat()) > longLiteral,
		v.Type() == cty.String && budget.LeadingNumber(v.AsString(), longLiteral) > 0:
		return &literal{x}
	}
	return x
}

// Value implements hcl.Expression.
func (l *literal) Value(ctx *hcl.EvalContext) (cty.Value, hcl.Diagnostics) {
	b, _ := of(ctx)
	if x := b.Check(l.Val); x != nil {
		return failed(b, x, l.SrcRange)
	}
	return l.LiteralValueExpr.Value(ctx)
}

// checked is a list or an object, written out, that an operator is about to walk over: it
// may hold a large value many times.
type checked struct{ hclsyntax.Expression }

func checkedLiteral(x hclsyntax.Expression) hclsyntax.Expression {
	inner := x
	for {
		p, ok := inner.(*hclsyntax.ParenthesesExpr)
		if !ok {
			break
		}
		inner = p.Expression
	}
	switch inner.(type) {
	case *hclsyntax.TupleConsExpr, *hclsyntax.ObjectConsExpr:
		return &checked{x}
	}
	return x
}

// UnwrapExpression is for HCL's static analyses.
func (c *checked) UnwrapExpression() hcl.Expression { return c.Expression }

// Value implements hcl.Expression.
func (c *checked) Value(ctx *hcl.EvalContext) (cty.Value, hcl.Diagnostics) {
	v, ds := c.Expression.Value(ctx)
	if b, _ := of(ctx); !ds.HasErrors() {
		if x := b.Check(v); x != nil {
			return failed(b, x, c.Range())
		}
	}
	return v, ds
}
