package parsing

import (
	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"github.com/lockstep-iac/lockstep/engine/budget"
)

// HCL evaluates an expression to its end, at any cost. But some expressions make large values from small ones:
// loops, templates and calls. In the tree that the parser returns, this package replaces them with expressions
// that count what they make, and stop when the budget of the evaluation is used up (see budget.Of). Each
// replacement evaluates a copy of the original whose parts count. So HCL still decides what an expression means.

// guardBody guards all expressions of a body.
func guardBody(b *hclsyntax.Body) {
	for _, a := range b.Attributes {
		a.Expr = guard(a.Expr)
	}
	for _, block := range b.Blocks {
		guardBody(block.Body)
	}
}

// guard replaces, in place, the parts of an expression that can make large values. It returns the expression
// or its replacement.
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

// guardParts guards the parts of an expression that itself makes no large values.
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

// literalBudget limits evaluations without a context: values of variables and settings. They have no
// references, but may contain loops.
var literalBudget = func() budget.Limits {
	l := budget.ForMemory(1 << 30)
	l.Steps = 5_000_000
	return l
}()

// budgetOf returns the budget of an evaluation. The result is true if the context has none, and the budget was
// created for this evaluation.
func budgetOf(ctx *hcl.EvalContext) (*budget.Budget, bool) {
	if b := budget.Of(ctx); b != nil {
		return b, false
	}
	return budget.New(literalBudget), true
}

// failed returns the result of an expression whose value would be too large: an unknown value and the error.
func failed(b *budget.Budget, x *budget.Excess, at hcl.Range) (cty.Value, hcl.Diagnostics) {
	b.Passed(x)
	return cty.DynamicVal, hcl.Diagnostics{x.Diagnostic(at)}
}

// A literal is a number with very many digits when written out, such as 1e999999, or a text that begins with a
// very long number. Both cost much when they are converted, so their size is checked first.
type literal struct{ *hclsyntax.LiteralValueExpr }

// longLiteral is the smallest number of digits for which a literal is checked.
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

// Value implements hcl.Expression. It first checks the literal's size.
func (l *literal) Value(ctx *hcl.EvalContext) (cty.Value, hcl.Diagnostics) {
	b, _ := budgetOf(ctx)
	if x := b.Check(l.Val); x != nil {
		return failed(b, x, l.SrcRange)
	}
	return l.LiteralValueExpr.Value(ctx)
}

// checked is a list or object constructor that is the operand of an operator. It may contain a large value
// many times, so its size is checked before the operator visits its parts.
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

// UnwrapExpression returns the original expression. HCL's static analyses call it.
func (c *checked) UnwrapExpression() hcl.Expression { return c.Expression }

// Value implements hcl.Expression. It evaluates the constructor and checks the value's size.
func (c *checked) Value(ctx *hcl.EvalContext) (cty.Value, hcl.Diagnostics) {
	v, ds := c.Expression.Value(ctx)
	if b, _ := budgetOf(ctx); !ds.HasErrors() {
		if x := b.Check(v); x != nil {
			return failed(b, x, c.Range())
		}
	}
	return v, ds
}
