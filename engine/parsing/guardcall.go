package parsing

import (
	"fmt"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"github.com/lockstep-iac/lockstep/engine/budget"
	"github.com/lockstep-iac/lockstep/engine/internal/converting"
	"github.com/lockstep-iac/lockstep/engine/internal/growth"
)

// A call is a function call with a check of its result's size. If the result could be too large, the call
// fails before the function is called, once the last argument is known. Errors of the call show no secret
// argument, and no stack trace of a function that panicked.
type call struct {
	*hclsyntax.FunctionCallExpr
	bound growth.Bound
	once  *constant // nil if the call is not constant
}

// UnwrapExpression returns the original expression. HCL's static analyses call it.
func (c *call) UnwrapExpression() hcl.Expression { return c.FunctionCallExpr }

func guardCall(x *hclsyntax.FunctionCallExpr) hclsyntax.Expression {
	for i := range x.Args {
		if i == 1 && isConvert(x) {
			x.Args[i] = guardType(x.Args[i])
			continue
		}
		x.Args[i] = checkedLiteral(guard(x.Args[i]))
	}
	return &call{x, growth.Of(x.Name), constantOf(x)}
}

// Value implements hcl.Expression. It evaluates the call within the budget.
func (c *call) Value(ctx *hcl.EvalContext) (v cty.Value, ds hcl.Diagnostics) {
	defer func() {
		if r := recover(); r != nil {
			v, ds = cty.DynamicVal, c.crashed(ctx, r)
		}
	}()
	switch {
	case c.once != nil:
		v, ds = c.once.evaluate(ctx, c.direct)
	case c.bound.Closures:
		v, ds = c.afterwards(ctx)
	default:
		v, ds = c.direct(ctx)
	}
	if ds.HasErrors() {
		ds = c.discreet(ctx, ds)
	}
	return v, ds
}

// direct evaluates a call of a function that gets the values of its arguments.
func (c *call) direct(ctx *hcl.EvalContext) (cty.Value, hcl.Diagnostics) {
	if c.bound.Trivial() {
		return c.FunctionCallExpr.Value(ctx)
	}
	return c.ahead(ctx)
}

// ahead evaluates a call, and checks the arguments before the function is called.
func (c *call) ahead(ctx *hcl.EvalContext) (cty.Value, hcl.Diagnostics) {
	k := &calling{call: c}
	k.b, _ = budgetOf(ctx)
	e := *c.FunctionCallExpr
	if len(e.Args) > 0 {
		args := make([]argument, len(e.Args))
		k.args = make([]cty.Value, len(e.Args))
		k.missing = len(e.Args)
		e.Args = make([]hclsyntax.Expression, len(args))
		for i, x := range c.Args {
			args[i] = argument{x, k, i}
			e.Args[i] = &args[i]
		}
	}
	v, ds := e.Value(ctx)
	if k.excess == nil && !ds.HasErrors() {
		k.excess = c.result(k.b, v)
	}
	if k.excess != nil {
		return failed(k.b, k.excess.Of("The result of "+c.Name), c.Range())
	}
	return v, ds
}

// afterwards evaluates a call of a function that evaluates its arguments itself. So only the result can be
// checked.
func (c *call) afterwards(ctx *hcl.EvalContext) (cty.Value, hcl.Diagnostics) {
	b, _ := budgetOf(ctx)
	v, ds := c.FunctionCallExpr.Value(ctx)
	excess := b.Step(1)
	if excess == nil {
		excess = b.First() // which try and can would pass over
	}
	if excess == nil && !ds.HasErrors() {
		excess = c.result(b, v)
	}
	if excess != nil {
		return failed(b, excess.Of("The result of "+c.Name), c.Range())
	}
	return v, ds
}

// calling is one evaluation of a call.
type calling struct {
	call    *call
	b       *budget.Budget
	args    []cty.Value
	missing int
	excess  *budget.Excess
}

// result checks and counts the value that the function has returned.
func (c *call) result(b *budget.Budget, v cty.Value) *budget.Excess {
	if c.bound.Kind == growth.Part {
		return nil
	}
	s, x := b.Measure(v)
	if x == nil {
		if c.bound.Kind == growth.Shares {
			// The result is a new list, but its elements belong to the arguments: count only the list itself.
			s = budget.Size{Values: shallow(v)}
		}
		x = b.Made(s)
	}
	return x
}

// shallow returns the number of elements of a collection, plus one for the collection itself. Parts of elements
// do not count.
func shallow(v cty.Value) int64 {
	v, _ = v.Unmark()
	if v.IsKnown() && !v.IsNull() && (v.CanIterateElements()) {
		return int64(v.LengthInt()) + 1
	}
	return 1
}

// An argument is an argument of a call. The evaluation of the last argument also checks the call.
type argument struct {
	hclsyntax.Expression
	k *calling
	i int
}

// Value implements hcl.Expression. After the last argument it checks the size of the call's result.
func (a *argument) Value(ctx *hcl.EvalContext) (cty.Value, hcl.Diagnostics) {
	k := a.k
	if k.excess == nil {
		k.excess = k.b.Step(1)
	}
	if k.excess != nil {
		return cty.DynamicVal, nil
	}
	v, ds := a.Expression.Value(ctx)
	if ds.HasErrors() {
		return v, ds
	}
	if want := k.wants(ctx, a.i); want != cty.NilType {
		ahead, err := converting.Ahead(v, want)
		if err != nil {
			ds = append(ds, &hcl.Diagnostic{
				Severity: hcl.DiagError, Summary: tooUnlike, Subject: a.Range().Ptr(),
				Detail: fmt.Sprintf("The argument cannot become a list: %s. Use fewer elements, or elements of one type.", err),
			})
			return cty.DynamicVal, ds
		}
		v = ahead
	}
	k.args[a.i] = v
	if k.missing--; k.missing > 0 {
		return v, ds
	}
	args := k.args
	if k.call.ExpandFinal {
		args = expanded(args)
	}
	if k.excess = k.call.bound.Check(k.b, args); k.excess != nil {
		// Return an error, so that the function is not called.
		_, ds := failed(k.b, k.excess, k.call.Range())
		return cty.DynamicVal, ds
	}
	return v, ds
}

// UnwrapExpression returns the original expression. HCL's static analyses call it.
func (a *argument) UnwrapExpression() hcl.Expression { return a.Expression }

const tooUnlike = "Evaluation takes too long"

// anyList is the type of a parameter for lists with elements of any type.
var anyList = cty.List(cty.DynamicPseudoType)

// wants returns the type to which argument i will be converted; NilType if it is not known.
func (k *calling) wants(ctx *hcl.EvalContext, i int) cty.Type {
	if k.call.ExpandFinal && i == len(k.args)-1 {
		return cty.NilType
	}
	if k.call.bound.Lists {
		return anyList
	}
	for ; ctx != nil; ctx = ctx.Parent() {
		f, ok := ctx.Functions[k.call.Name]
		if !ok {
			continue
		}
		if params := f.Params(); i < len(params) {
			return params[i].Type
		} else if rest := f.VarParam(); rest != nil {
			return rest.Type
		}
		break
	}
	return cty.NilType
}

// expanded replaces the last argument with its elements, as "..." passes them.
func expanded(args []cty.Value) []cty.Value {
	last, marks := args[len(args)-1].Unmark()
	out := args[: len(args)-1 : len(args)-1]
	if !last.IsKnown() || last.IsNull() || !last.CanIterateElements() {
		return out
	}
	for _, v := range last.Elements() {
		out = append(out, v.WithMarks(marks))
	}
	return out
}
