package decoding

import (
	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/internal/traversals"
)

// providerRef reads a reference to a provider configuration: aws, aws.west, or the same in quotes, as in old
// configurations. The result is false after an error.
func (r *reader) providerRef(e hcl.Expression) (addrs.LocalProviderConfig, bool) {
	e, ds := traversals.Unquoted(e)
	r.add(ds)
	if ds.HasErrors() {
		return addrs.LocalProviderConfig{}, false
	}
	t, ds := hcl.AbsTraversalForExpr(e)
	local, ok := traversals.ProviderConfig(t)
	if ds.HasErrors() || !ok {
		r.errorf(e.Range().Ptr(), "Invalid provider configuration reference",
			"A reference to a provider configuration is the provider's local name, followed by a dot and an alias if it has one.")
		return local, false
	}
	if err := checkLocalName(local.LocalName); err != "" {
		r.errorf(t.SourceRange().Ptr(), badLocalName, "%s", err)
		return local, false
	}
	return local, true
}

// providerInstanceRef reads a reference to a provider configuration, and the expression in brackets after it,
// if there is one. The result is false after an error.
func (r *reader) providerInstanceRef(e hcl.Expression) (addrs.LocalProviderConfig, hcl.Expression, bool) {
	x, ds := traversals.Native(e)
	if ds.HasErrors() {
		x = e
	}
	switch x := x.(type) {
	case *hclsyntax.IndexExpr:
		local, ok := r.providerRef(x.Collection)
		return local, x.Key, ok
	case *hclsyntax.ScopeTraversalExpr:
		last := len(x.Traversal) - 1
		if index, is := x.Traversal[last].(hcl.TraverseIndex); is && last > 0 {
			of := &hclsyntax.ScopeTraversalExpr{Traversal: x.Traversal[:last], SrcRange: x.Traversal[:last].SourceRange()}
			local, ok := r.providerRef(of)
			return local, &hclsyntax.LiteralValueExpr{Val: index.Key, SrcRange: index.SrcRange}, ok
		}
	}
	local, ok := r.providerRef(e)
	return local, nil, ok
}
