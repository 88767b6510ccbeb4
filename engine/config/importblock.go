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
		r.errorf(&b.DefRange, `Cannot override "import" blocks`, "Import blocks can stand in normal files only, not in override files.")
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
		if local, good := r.providerRef(a.Expr); good {
			m.Provider = &local
		}
	}
	if ok {
		r.c.Imports = append(r.c.Imports, m)
	}
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

var checkSchema = &hcl.BodySchema{Blocks: []hcl.BlockHeaderSchema{
	{Type: "data", LabelNames: []string{"type", "name"}}, {Type: "assert"},
}}

// check reads a check block.
func (r *reader) check(b *hcl.Block) {
	c := &Check{Name: b.Labels[0], Range: b.DefRange}
	if r.override {
		r.errorf(&b.DefRange, "Cannot override check blocks", "Check blocks can stand in normal files only, not in override files.")
		return
	}
	content := r.content(b.Body, checkSchema)
	r.name(b, 0, "Invalid check block name")
	for _, n := range content.Blocks {
		if n.Type == "assert" {
			c.Asserts = append(c.Asserts, r.condition(n))
			continue
		}
		if c.Data != nil {
			r.errorf(&n.DefRange, "Multiple data resource blocks", "A check block may have only one data block. The first one is at %s.", at(c.Data.Range))
			continue
		}
		c.Data = r.resourceBlock(n, addrs.Data)
		r.scopedData(c.Data)
	}
	if len(c.Asserts) == 0 {
		r.errorf(&c.Range, "Zero assert blocks", "A check block needs at least one assert block.")
	}
	old := r.c.Checks[c.Name]
	if old != nil {
		r.errorf(&c.Range, "Duplicate check configuration",
			"A check named %q was already declared at %s. Names of checks must be unique within a module.", c.Name, at(old.Range))
		return
	}
	r.c.Checks[c.Name] = c
	if c.Data == nil {
		return
	}
	if old := r.c.Resources[c.Data.Addr]; old != nil {
		r.duplicate(c.Data, old)
		return
	}
	r.c.Resources[c.Data.Addr] = c.Data
}

// scopedData refuses what a data block inside a check cannot have.
func (r *reader) scopedData(x *Resource) {
	for name, e := range map[string]hcl.Expression{"count": x.Count, "for_each": x.ForEach} {
		if e != nil {
			r.errorf(e.Range().Ptr(), "Invalid \""+name+"\" argument", "A data block inside a check block cannot have the argument %q.", name)
		}
	}
	if len(x.Preconditions)+len(x.Postconditions) > 0 {
		r.errorf(&x.Range, "Invalid \"lifecycle\" block", "A data block inside a check block cannot have a lifecycle block.")
	}
}
