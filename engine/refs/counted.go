package refs

import (
	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/lockstep-iac/lockstep/engine/addrs"
)

// markCounted sets Counted for those of the references of x that are the only argument of the function length
// and name a whole resource.
func markCounted(x hcl.Expression, list []Reference) {
	node, ok := x.(hclsyntax.Expression)
	if !ok {
		return
	}
	var at map[hcl.Range]bool // arguments of length
	for i := range list {
		r := &list[i]
		if r.Object.Kind != addrs.KindResource || len(r.Rest) > 0 {
			continue
		}
		if at == nil {
			at = lengthArguments(node)
		}
		r.Counted = at[r.whole.SourceRange()]
	}
}

func lengthArguments(x hclsyntax.Expression) map[hcl.Range]bool {
	out := map[hcl.Range]bool{}
	_ = hclsyntax.VisitAll(x, func(n hclsyntax.Node) hcl.Diagnostics { // the function below returns none
		if e, is := n.(interface{ UnwrapExpression() hcl.Expression }); is {
			n, _ = e.UnwrapExpression().(hclsyntax.Expression)
		}
		c, is := n.(*hclsyntax.FunctionCallExpr)
		if !is || c.Name != "length" || len(c.Args) != 1 || c.ExpandFinal {
			return nil
		}
		if t, is := c.Args[0].(*hclsyntax.ScopeTraversalExpr); is {
			out[t.Traversal.SourceRange()] = true
		}
		return nil
	})
	return out
}
