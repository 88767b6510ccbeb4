package decoding

import (
	"github.com/hashicorp/hcl/v2"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/config"
	"github.com/lockstep-iac/lockstep/engine/internal/traversals"
)

var movedSchema = &hcl.BodySchema{Attributes: []hcl.AttributeSchema{{Name: "from", Required: true}, {Name: "to", Required: true}}}

// moved reads a moved block.
func (d *Decoder) moved(b *hcl.Block) {
	content := d.contentOf(b.Body, movedSchema)
	m := &config.Moved{Range: b.DefRange}
	from, to := content.Attributes["from"], content.Attributes["to"]
	ok := from != nil && to != nil
	if from != nil {
		var good bool
		m.From, good = d.endpoint(from.Expr)
		m.FromRange, ok = from.Expr.Range(), ok && good
	}
	if to != nil {
		var good bool
		m.To, good = d.endpoint(to.Expr)
		m.ToRange, ok = to.Expr.Range(), ok && good
	}
	if !ok {
		return
	}
	if m.From.IsModule() != m.To.IsModule() {
		d.errorf(&m.Range, `Invalid "moved" addresses`,
			`The "from" and "to" addresses must either both name modules or both name resources.`)
		return
	}
	d.content.Moved = append(d.content.Moved, m)
}

// endpoint reads an address of a moved block: relative to the module, with or without keys. The result is false
// after an error.
func (r *reader) endpoint(e hcl.Expression) (addrs.Target, bool) {
	t, ds := hcl.AbsTraversalForExpr(e)
	r.add(ds)
	if ds.HasErrors() {
		return addrs.Target{}, false
	}
	out, ds := traversals.Target(t)
	r.add(ds)
	return out, !ds.HasErrors()
}
