package config

import (
	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/lockstep-iac/lockstep/engine/addrs"
)

var importSchema = &hcl.BodySchema{Attributes: []hcl.AttributeSchema{
	{Name: "provider"}, {Name: "for_each"}, {Name: "id", Required: true}, {Name: "to", Required: true},
}}

// imports reads an import block.
func (r *reader) imports(b *hcl.Block) {
	if r.override {
		r.errorf(&b.DefRange, `Cannot override 'import' blocks`, "Import blocks can stand in normal files only, not in override files.")
		return
	}
	content := r.content(b.Body, importSchema)
	attrs := content.Attributes
	m := &Import{ID: expr(attrs["id"]), ForEach: expr(attrs["for_each"]), Range: b.DefRange}
	ok := m.ID != nil
	if a := attrs["to"]; a != nil {
		m.To = a.Expr
		ok = r.importTarget(m) && ok
	} else {
		ok = false
	}
	if a := attrs["provider"]; a != nil {
		local, good := r.providerRef(a.Expr)
		if good {
			m.Provider, m.providerRange = &local, a.Range
		}
		if !m.Resource.Module.IsRoot() {
			ok = false
			r.errorf(&a.Range, "Invalid import provider argument",
				"The provider argument is for resources of the root module. In a called module, the resource's block and the call's providers argument decide which provider is used.")
		}
	}
	ok = ok && r.needsOther(m.ID, m, "Invalid import id argument", "The import ID")
	ok = ok && r.needsOther(m.ForEach, m, "Invalid for_each argument", "The for_each of an import block")
	if ok && !r.duplicateImport(m) {
		r.c.Imports = append(r.c.Imports, m)
	}
}

// needsOther refuses an expression of an import block that mentions the resource which the
// block is for.
func (r *reader) needsOther(e hcl.Expression, m *Import, summary, what string) bool {
	if e == nil || !m.Resource.Module.IsRoot() {
		return true
	}
	for _, t := range e.Variables() {
		if res, ok := resourceOf(t); ok && res == m.Resource.Resource {
			r.errorf(e.Range().Ptr(), summary, "%s cannot refer to %s, the resource that is imported.", what, res)
			return false
		}
	}
	return true
}

// duplicateImport reports two blocks that import into one instance, as far as their
// addresses are literal.
func (r *reader) duplicateImport(m *Import) bool {
	t, ds := hcl.AbsTraversalForExpr(m.To)
	if ds.HasErrors() {
		return false
	}
	target, ds := targetFromTraversal(t)
	if ds.HasErrors() {
		return false
	}
	if r.imported == nil {
		r.imported = map[addrs.Target]hcl.Range{}
	}
	if old, dup := r.imported[target]; dup {
		r.errorf(m.To.Range().Ptr(), "Duplicate import configuration for \""+target.String()+"\"",
			"An import block at %s has the same target already.", at(old))
		return true
	}
	r.imported[target] = m.Range
	return false
}

// importTarget finds the resource that an import block means. Keys may be
// expressions when there is a for_each.
func (r *reader) importTarget(m *Import) bool {
	e, ds := native(m.To)
	r.diags = append(r.diags, ds...)
	if ds.HasErrors() {
		return false
	}
	m.To = e
	steps, ok := staticSteps(e)
	if !ok || len(steps) == 0 {
		r.errorf(m.To.Range().Ptr(), "Invalid import address expression", "The address of a resource instance is required, whose keys may be expressions.")
		return false
	}
	t, ds := targetFromTraversal(steps)
	r.diags = append(r.diags, ds...)
	if ds.HasErrors() {
		return false
	}
	if t.IsModule() || t.Resource.Mode != addrs.Managed {
		r.errorf(m.To.Range().Ptr(), "Invalid import address", "Only managed resources can be imported.")
		return false
	}
	m.Resource = addrs.ConfigResource{Module: t.Module.Module(), Resource: t.Resource}
	return true
}

// staticSteps returns the names of an address, leaving out keys.
func staticSteps(e hcl.Expression) (hcl.Traversal, bool) {
	switch x := e.(type) {
	case *hclsyntax.ScopeTraversalExpr:
		return withoutKeys(x.Traversal), true
	case *hclsyntax.RelativeTraversalExpr:
		head, ok := staticSteps(x.Source)
		return append(head, withoutKeys(x.Traversal)...), ok
	case *hclsyntax.IndexExpr:
		return staticSteps(x.Collection)
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
