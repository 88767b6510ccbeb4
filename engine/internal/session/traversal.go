package session

import (
	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/engine/eval"
)

// Traversal returns an expression as a traversal. Keys in it may be each.key or count.index; an unknown key
// stays unknown. If the expression is not a traversal, Traversal returns an error with this summary.
func Traversal(expr hcl.Expression, s eval.Scope, summary string) (hcl.Traversal, diags.Diagnostics) {
	if t, hs := hcl.AbsTraversalForExpr(expr); !hs.HasErrors() {
		return t, nil
	}
	switch e := expr.(type) {
	case *hclsyntax.RelativeTraversalExpr:
		base, ds := Traversal(e.Source, s, summary)
		return append(base[:len(base):len(base)], e.Traversal...), ds
	case *hclsyntax.IndexExpr:
		base, ds := Traversal(e.Collection, s, summary)
		if ds.HasErrors() {
			return nil, ds
		}
		ctx := &hcl.EvalContext{Variables: map[string]cty.Value{}}
		if s.Instance != nil {
			ctx.Variables = s.Instance.Variables()
		}
		k, hs := e.Key.Value(ctx)
		if hs.HasErrors() {
			return nil, diags.FromHCL(hs)
		}
		if _, ok := addrs.KeyFromValue(k); !ok && (k.IsMarked() || k.IsKnown()) {
			return nil, diags.Errorf(e.Key.Range().Ptr(), "Invalid index expression",
				"An instance key must be a string or a whole number that is known and not sensitive.")
		}
		return append(base[:len(base):len(base)], hcl.TraverseIndex{Key: k, SrcRange: e.Key.Range()}), nil
	}
	return nil, diags.Errorf(expr.Range().Ptr(), summary,
		"A reference to a resource, a resource instance or an attribute of one is required.")
}
