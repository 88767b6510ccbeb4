package decoding

import (
	"github.com/hashicorp/hcl/v2"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/config"
	"github.com/lockstep-iac/lockstep/engine/internal/traversals"
	"github.com/lockstep-iac/lockstep/engine/language"
)

var importSchema = &hcl.BodySchema{Attributes: []hcl.AttributeSchema{
	{Name: "provider"}, {Name: "for_each"}, {Name: "id"}, {Name: "identity"}, {Name: "to", Required: true},
}}

// imports reads an import block.
func (d *Decoder) imports(b *hcl.Block) {
	content := d.contentOf(b.Body, importSchema)
	attrs := content.Attributes
	m := &config.Import{ID: expr(attrs["id"]), Identity: expr(attrs["identity"]), ForEach: expr(attrs["for_each"]), Range: b.DefRange}
	ok := (m.ID != nil) != (m.Identity != nil)
	switch {
	case ok:
	case m.ID == nil && d.language == language.V1_11: // the schema reports it
	case m.ID == nil:
		d.errorf(&b.DefRange, "Invalid import block", "The import block does not say which object to import. Set \"id\" or \"identity\".")
	case m.ID != nil:
		d.errorf(&b.DefRange, "Invalid import block", "The import block has both \"id\" and \"identity\". Keep one of them.")
	}
	if a := attrs["to"]; a != nil {
		m.To = a.Expr
		ok = d.importTarget(m, a) && ok
	} else {
		ok = false
	}
	if a := attrs["provider"]; a != nil {
		local, good := d.providerRef(a.Expr)
		if good {
			m.Provider, m.ProviderRange = &local, a.Range
		}
		if !m.Resource.Module.IsRoot() {
			ok = false
			d.errorf(&a.Range, "Invalid import provider argument",
				"The provider argument is for resources of the root module. In a called module, the resource's block and the call's providers argument decide which provider is used.")
		}
	}
	ok = ok && d.refersToOthers(m.ID, m, "Invalid import id argument", "The import ID")
	ok = ok && d.refersToOthers(m.Identity, m, "Invalid import identity argument", "The import identity")
	ok = ok && d.refersToOthers(m.ForEach, m, "Invalid for_each argument", "The for_each of an import block")
	if ok && !d.duplicateImport(m) {
		d.content.Imports = append(d.content.Imports, m)
	}
}

// refersToOthers reports whether an argument of the import block m refers only to other resources than the one
// that m imports. Otherwise it adds an error with this summary. what is the subject of the error's sentence,
// such as "The import ID".
func (d *Decoder) refersToOthers(e hcl.Expression, m *config.Import, summary, what string) bool {
	if e == nil || !m.Resource.Module.IsRoot() {
		return true
	}
	for _, t := range e.Variables() {
		if res, ok := traversals.Resource(t); ok && res == m.Resource.Resource {
			d.errorf(e.Range().Ptr(), summary, "%s cannot refer to %s, the resource that is imported.", what, res)
			return false
		}
	}
	return true
}

// duplicateImport reports whether an earlier import block has the same literal target address. If so, it adds
// an error. It ignores addresses that are not literal.
func (d *Decoder) duplicateImport(m *config.Import) bool {
	t, ds := hcl.AbsTraversalForExpr(m.To)
	if ds.HasErrors() {
		return false
	}
	target, ds := traversals.Target(t)
	if ds.HasErrors() {
		return false
	}
	if d.imported == nil {
		d.imported = map[addrs.Target]hcl.Range{}
	}
	if old, dup := d.imported[target]; dup {
		d.errorf(m.To.Range().Ptr(), "Duplicate import configuration for \""+target.String()+"\"",
			"An import block at %s has the same target already.", at(old))
		return true
	}
	d.imported[target] = m.Range
	return false
}

// importTarget reads the resource address of an import block, and reports whether the address is valid. If not,
// it adds an error. The instance keys in the address may be expressions if the block has a for_each.
func (d *Decoder) importTarget(m *config.Import, a *hcl.Attribute) bool {
	e, ds := traversals.Native(m.To)
	d.add(ds)
	if ds.HasErrors() {
		return false
	}
	m.To = e
	steps, ok := traversals.StaticSteps(e)
	if !ok || len(steps) == 0 {
		d.errorf(m.To.Range().Ptr(), "Invalid import address expression", "The address of a resource instance is required, whose keys may be expressions.")
		return false
	}
	t, ds := traversals.Target(steps)
	d.add(ds)
	if ds.HasErrors() {
		return false
	}
	if t.IsModule() || t.Resource.Mode != addrs.Managed {
		d.errorf(&a.Range, "Invalid import address", "Only managed resources can be imported.")
		return false
	}
	m.Resource = addrs.ConfigResource{Module: t.Module.Module(), Resource: t.Resource}
	return true
}
