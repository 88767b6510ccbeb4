package traversals

import (
	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
)

// StaticSteps returns the steps of an address without its instance keys, which may be expressions. The result
// is false if e is not an address.
func StaticSteps(e hcl.Expression) (hcl.Traversal, bool) {
	switch x := e.(type) {
	case *hclsyntax.ScopeTraversalExpr:
		return withoutKeys(x.Traversal), true
	case *hclsyntax.RelativeTraversalExpr:
		head, ok := StaticSteps(x.Source)
		return append(head, withoutKeys(x.Traversal)...), ok
	case *hclsyntax.IndexExpr:
		return StaticSteps(x.Collection)
	}
	t, ds := hcl.AbsTraversalForExpr(e)
	return withoutKeys(t), !ds.HasErrors()
}

func withoutKeys(t hcl.Traversal) hcl.Traversal {
	out := make(hcl.Traversal, 0, len(t))
	for _, s := range t {
		if _, ok := s.(hcl.TraverseIndex); !ok {
			out = append(out, s)
		}
	}
	return out
}

// ObjectKey returns the expression of an object's key, without HCL's wrapper for bare words.
func ObjectKey(e hcl.Expression) hcl.Expression {
	if k, ok := e.(*hclsyntax.ObjectConsKeyExpr); ok {
		return k.Wrapped
	}
	return e
}
