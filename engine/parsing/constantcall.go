package parsing

import (
	"sync/atomic"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
)

// A constant is the value of a call without references, such as `jsonencode({ Version = "2012-10-17" })`. All
// instances of a block share the expression, so the call is evaluated once and not for each of them.
type constant struct{ value atomic.Pointer[cty.Value] }

// repeatable are functions whose result depends on their arguments alone, and whose calls cost more than a look
// at this table. Functions that read files, the clock or the marks of values are none.
var repeatable = map[string]bool{
	"base64decode": true, "base64encode": true, "base64gzip": true, "base64sha256": true, "base64sha512": true,
	"cidrhost": true, "cidrnetmask": true, "cidrsubnet": true, "cidrsubnets": true, "concat": true, "csvdecode": true,
	"distinct": true, "flatten": true, "format": true, "formatlist": true, "join": true, "jsondecode": true,
	"jsonencode": true, "keys": true, "lower": true, "md5": true, "merge": true, "range": true, "regexall": true,
	"replace": true, "setproduct": true, "sha1": true, "sha256": true, "sha512": true, "sort": true, "split": true,
	"tolist": true, "tomap": true, "toset": true, "upper": true, "urlencode": true, "uuidv5": true, "values": true,
	"yamldecode": true, "yamlencode": true, "zipmap": true,
}

// constantOf returns where to keep the value of a call whose parts are guarded already; nil if the call is not
// constant. The calls among the arguments need not keep their values any more.
func constantOf(x *hclsyntax.FunctionCallExpr) *constant {
	if !repeatable[x.Name] {
		return nil
	}
	var inner []*call
	for _, a := range x.Args {
		if !isConstant(a, &inner) {
			return nil
		}
	}
	for _, c := range inner {
		c.once = nil
	}
	return &constant{}
}

// isConstant reports whether a guarded expression has no references and only repeatable calls, which it adds to
// calls. It looks into each expression once, however deep calls are nested.
func isConstant(x hcl.Expression, calls *[]*call) bool {
	all := func(list ...hclsyntax.Expression) bool {
		for _, e := range list {
			if !isConstant(e, calls) {
				return false
			}
		}
		return true
	}
	switch x := x.(type) {
	case *call:
		*calls = append(*calls, x)
		return x.once != nil
	case *checked:
		return all(x.Expression)
	case *hclsyntax.LiteralValueExpr:
		return true
	case *hclsyntax.ParenthesesExpr:
		return all(x.Expression)
	case *hclsyntax.TemplateExpr:
		return all(x.Parts...)
	case *hclsyntax.TupleConsExpr:
		return all(x.Exprs...)
	case *hclsyntax.ObjectConsExpr:
		for _, i := range x.Items {
			if !all(i.KeyExpr, i.ValueExpr) {
				return false
			}
		}
		return true
	case *hclsyntax.TemplateWrapExpr:
		return all(x.Wrapped)
	case *hclsyntax.ObjectConsKeyExpr:
		return !x.ForceNonLiteral && hcl.ExprAsKeyword(x.Wrapped) != "" || all(x.Wrapped)
	case interface{ UnwrapExpression() hcl.Expression }:
		return isConstant(x.UnwrapExpression(), calls)
	}
	return false
}

// evaluate returns the kept value, or the one that f returns. Each costs the budget a step, and errors are not
// kept.
func (k *constant) evaluate(ctx *hcl.EvalContext, f func(*hcl.EvalContext) (cty.Value, hcl.Diagnostics)) (cty.Value, hcl.Diagnostics) {
	b, fresh := budgetOf(ctx)
	if v := k.value.Load(); v != nil && b.Step(1) == nil {
		return *v, nil
	}
	v, ds := f(ctx)
	if len(ds) == 0 && !fresh && v.IsWhollyKnown() {
		k.value.Store(&v)
	}
	return v, ds
}
