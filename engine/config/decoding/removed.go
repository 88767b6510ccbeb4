package decoding

import (
	"github.com/hashicorp/hcl/v2"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/config"
)

var removedSchema = &hcl.BodySchema{
	Attributes: []hcl.AttributeSchema{{Name: "from", Required: true}},
	Blocks: []hcl.BlockHeaderSchema{
		{Type: "lifecycle"}, {Type: "connection"}, {Type: "provisioner", LabelNames: []string{"type"}},
	},
}

var removedLifecycleSchema = &hcl.BodySchema{Attributes: []hcl.AttributeSchema{{Name: "destroy"}}}

// removed reads a removed block. Its objects are destroyed. With destroy = false they are forgotten: they
// remain, but not in the state. The block may have the parts of a resource block that are needed for the
// destruction: destroy-time provisioners and their connection. In a configuration for OpenTofu, a block that does
// not say destroy = true forgets.
// Source: Terraform 1.16.0-rc2, OpenTofu 1.12.6.
func (d *Decoder) removed(b *hcl.Block) {
	content := d.contentOf(b.Body, removedSchema)
	m := &config.Removed{Destroy: d.options.Registry != addrs.OpenTofuRegistryHost, Range: b.DefRange}
	ok := false
	if a := content.Attributes["from"]; a != nil {
		m.FromRange = a.Expr.Range()
		m.From, ok = d.endpoint(a.Expr)
		ok = ok && d.removedAddress(m, a.Expr)
	}
	var connection *hcl.Block
	for _, n := range content.Blocks {
		switch n.Type {
		case "lifecycle":
			lc := d.contentOf(n.Body, removedLifecycleSchema)
			m.Explicit = lc.Attributes["destroy"] != nil
			d.literal(lc.Attributes["destroy"], &m.Destroy)
		case "connection":
			if d.once(&connection, n, "Duplicate connection block", "A removed block may have only one connection block.") {
				m.Connection = n.Body
			}
		case "provisioner":
			if p := d.provisioner(n); p != nil {
				if !p.OnDestroy {
					d.errorf(&n.DefRange, "Invalid provisioner block", "A removed block can have provisioners for the destruction only: write when = destroy.")
					continue
				}
				m.Provisioners = append(m.Provisioners, p)
			}
		}
	}
	if ok && len(m.Provisioners) > 0 && m.From.IsModule() {
		d.errorf(&m.Provisioners[0].Range, "Invalid provisioner block", "Provisioners can be given for a removed resource, but not for a removed module.")
	}
	if !m.Explicit && !m.Destroy {
		d.warnf(&m.Range, "Missing lifecycle from the removed block", "In a configuration for OpenTofu, a removed block without lifecycle leaves the objects, and takes them out of the state. Terraform destroys them. Write lifecycle { destroy = false } or lifecycle { destroy = true }.")
	}
	if ok {
		d.content.Removed = append(d.content.Removed, m)
	}
}

// removedAddress reports whether a removed block names a whole resource or module.
func (r *reader) removedAddress(m *config.Removed, e hcl.Expression) bool {
	key := firstKey(e)
	if !m.From.Key.IsNone() {
		r.errorf(&key, "Resource instance keys not allowed", "A removed block is about all instances of a resource. Remove the key.")
		return false
	}
	for _, s := range m.From.Module.Steps() {
		if !s.Key.IsNone() {
			r.errorf(&key, "Module instance keys not allowed", "A removed block is about all instances of a module. Remove the key.")
			return false
		}
	}
	if !m.From.IsModule() && m.From.Resource.Mode != addrs.Managed {
		r.errorf(&m.FromRange, "Data source address not allowed", "Only managed resources and modules can be removed: a data resource leaves nothing behind when its block is deleted.")
		return false
	}
	return true
}

// firstKey returns the range of the first instance key in an address; the whole range if there is none.
func firstKey(e hcl.Expression) hcl.Range {
	t, _ := hcl.AbsTraversalForExpr(e)
	for _, s := range t {
		if x, ok := s.(hcl.TraverseIndex); ok {
			return x.SrcRange
		}
	}
	return e.Range()
}
