package traversals

import (
	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/engine/parsing"
)

// Unquoted turns a reference in quotes into the reference, with a warning. It returns other expressions,
// including JSON's, unchanged.
func Unquoted(e hcl.Expression) (hcl.Expression, hcl.Diagnostics) {
	t, ok := e.(*hclsyntax.TemplateExpr)
	if !ok {
		return e, nil
	}
	v, ds := t.Value(nil)
	if ds.HasErrors() || !t.IsStringLiteral() {
		return e, ds
	}
	// The traversal starts after the quote.
	start := t.Range().Start
	start.Column++
	start.Byte++
	trav, ds := hclsyntax.ParseTraversalAbs([]byte(v.AsString()), t.Range().Filename, start)
	ds = append(ds, diags.HCLWarning(t.Range().Ptr(), "Quoted references are deprecated",
		"References stand without quotes; quotes were needed up to Terraform 0.11. Remove them."))
	return &hclsyntax.ScopeTraversalExpr{Traversal: trav, SrcRange: t.Range()}, ds
}

// UnquotedKeyword returns the same as [Unquoted], for a keyword such as "all".
func UnquotedKeyword(e hcl.Expression) (hcl.Expression, hcl.Diagnostics) {
	t, ok := e.(*hclsyntax.TemplateExpr)
	if !ok || !t.IsStringLiteral() {
		return e, nil
	}
	v, ds := t.Value(nil)
	if ds.HasErrors() {
		return e, ds
	}
	return &hclsyntax.ScopeTraversalExpr{
			Traversal: hcl.Traversal{hcl.TraverseRoot{Name: v.AsString(), SrcRange: t.Range()}},
			SrcRange:  t.Range(),
		}, hcl.Diagnostics{diags.HCLWarning(t.Range().Ptr(), "Quoted keywords are deprecated",
			"Keywords stand without quotes; quotes were needed up to Terraform 0.11. Remove them.")}
}

// Native returns the expression that a JSON string contains, where the language requires an expression and
// not a template. It returns other expressions unchanged.
func Native(e hcl.Expression) (hcl.Expression, hcl.Diagnostics) {
	if !parsing.IsJSON(e) {
		return e, nil
	}
	v, ds := e.Value(nil)
	if ds.HasErrors() {
		// The string has "${" in it. Parse the "${" as an expression, since that gives the error to report.
		return parsing.Expression([]byte("${"), e.Range().Filename, e.Range().Start)
	}
	if v.IsNull() || v.Type() != cty.String {
		return e, hcl.Diagnostics{diags.HCLError(e.Range().Ptr(), "Invalid expression", "A string that holds an expression is required.")}
	}
	start := e.Range().Start
	start.Column++
	start.Byte++
	return parsing.Expression([]byte(v.AsString()), e.Range().Filename, start)
}
