package parsing

import (
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/ext/typeexpr"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"github.com/lockstep-iac/lockstep/engine/internal/converting"
)

// A typeArgument is the second argument of the function convert: a type constraint. The names in it are not
// references.
type typeArgument struct {
	*hclsyntax.LiteralValueExpr // it has no children, so no references are found in them
	wrong                       hcl.Diagnostics
}

// isConvert reports whether a call has a type constraint as its second argument.
func isConvert(x *hclsyntax.FunctionCallExpr) bool {
	return strings.TrimPrefix(x.Name, "core::") == "convert" && len(x.Args) == 2 && !x.ExpandFinal
}

func guardType(x hclsyntax.Expression) hclsyntax.Expression {
	out := &typeArgument{LiteralValueExpr: &hclsyntax.LiteralValueExpr{Val: cty.DynamicVal, SrcRange: x.Range()}}
	ty, defaults, wrong := typeexpr.TypeConstraintWithDefaults(x)
	if out.wrong = wrong; !wrong.HasErrors() {
		out.Val = cty.CapsuleVal(converting.TargetType, &converting.Target{Type: ty, Defaults: defaults})
	}
	return out
}

// Value implements hcl.Expression. It returns the type constraint as a capsule value.
func (t *typeArgument) Value(*hcl.EvalContext) (cty.Value, hcl.Diagnostics) { return t.Val, t.wrong }
