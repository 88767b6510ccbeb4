package parsing

import (
	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function/stdlib"
)

// bothOperands has the operators && and || of older versions of the language, by the operator of today. An older
// operator needs both operands: an error or an unknown value of either makes the result an error or unknown.
// Source: Terraform 1.11.4; HCL decides with one operand since 2.24.
var bothOperands = map[*hclsyntax.Operation]*hclsyntax.Operation{
	hclsyntax.OpLogicalAnd: {Impl: stdlib.AndFunc, Type: cty.Bool},
	hclsyntax.OpLogicalOr:  {Impl: stdlib.OrFunc, Type: cty.Bool},
}

// UseBothOperands gives a file that [Config] or [JSON] returned the operators && and || of Terraform 1.11, whose
// result needs both operands. Call it before anything evaluates the file.
func UseBothOperands(f *hcl.File) {
	switch b := f.Body.(type) {
	case *hclsyntax.Body:
		useBothOperands(b)
	case jsonBody:
		b.both = true
		f.Body = b
	}
}

// UseBothOperandsIn does for an expression what [UseBothOperands] does for a file.
func UseBothOperandsIn(x hcl.Expression) {
	if n, ok := x.(hclsyntax.Node); ok {
		useBothOperands(n)
	}
}

func useBothOperands(n hclsyntax.Node) {
	_ = hclsyntax.VisitAll(n, func(n hclsyntax.Node) hcl.Diagnostics { // our function returns no diagnostics
		if x, ok := n.(*hclsyntax.BinaryOpExpr); ok && bothOperands[x.Op] != nil {
			x.Op = bothOperands[x.Op]
		}
		return nil
	})
}
