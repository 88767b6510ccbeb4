package decoding

import (
	"github.com/hashicorp/hcl/v2"

	"github.com/lockstep-iac/lockstep/engine/config"
	"github.com/lockstep-iac/lockstep/engine/internal/traversals"
)

var provisionerSchema = &hcl.BodySchema{
	Attributes: []hcl.AttributeSchema{{Name: "when"}, {Name: "on_failure"}},
	Blocks:     []hcl.BlockHeaderSchema{{Type: "connection"}, {Type: "lifecycle"}, {Type: "_"}},
}

// removedProvisioners are provisioners that former versions of the language had.
var removedProvisioners = map[string]bool{"chef": true, "habitat": true, "puppet": true, "salt-masterless": true}

// provisioner reads a provisioner block. The result is nil for a provisioner that Terraform no longer has.
func (r *reader) provisioner(b *hcl.Block) *config.Provisioner {
	p := &config.Provisioner{Type: b.Labels[0], Range: b.DefRange}
	if removedProvisioners[p.Type] {
		r.errorf(&b.LabelRanges[0], "The \""+p.Type+"\" provisioner has been removed", "The provisioner is not part of the language any more, since Terraform 0.15.")
		return nil
	}
	content, remain := r.partialContentOf(b.Body, provisionerSchema)
	p.Body = remain
	if a := content.Attributes["when"]; a != nil {
		switch r.keyword(a) {
		case "create":
		case "destroy":
			p.OnDestroy = true
		default:
			r.errorf(a.Expr.Range().Ptr(), `Invalid "when" keyword`, `The argument "when" must be one of the keywords create and destroy.`)
		}
	}
	if a := content.Attributes["on_failure"]; a != nil {
		switch r.keyword(a) {
		case "fail":
		case "continue":
			p.Continue = true
		default:
			r.errorf(a.Expr.Range().Ptr(), `Invalid "on_failure" keyword`, `The argument "on_failure" must be one of the keywords continue and fail.`)
		}
	}
	var connection, escape *hcl.Block
	for _, n := range content.Blocks {
		switch n.Type {
		case "connection":
			if r.once(&connection, n, "Duplicate connection block", "A provisioner block may have only one connection block.") {
				p.Connection = n.Body
			}
		case "_":
			if r.once(&escape, n, "Duplicate escaping block", "The block named _ may be used only once in each block.") {
				p.Body = escapedBody(p.Body, n.Body)
			}
		default:
			r.errorf(&n.TypeRange, "Reserved block type name in provisioner block", reservedName, n.Type)
		}
	}
	if p.OnDestroy {
		r.destroyReferences(p.Body)
		r.destroyReferences(p.Connection)
	}
	return p
}

// destroyReferences refuses references in a destroy-time provisioner to objects that may no longer exist
// then.
func (r *reader) destroyReferences(body hcl.Body) {
	if body == nil {
		return
	}
	// Neither provisioners nor connections have nested blocks.
	attrs, _ := body.JustAttributes()
	for _, a := range attrs {
		for _, t := range a.Expr.Variables() {
			word, next := traversals.RootName(t)
			switch {
			case word == "self" || word == "path" || word == "terraform":
			case word == "count" && next == "index" || word == "each" && next == "key":
			default:
				r.errorf(t.SourceRange().Ptr(), "Invalid reference from destroy provisioner",
					"A provisioner with when = destroy, and its connection, may refer to self, count.index and each.key only: other objects may be gone by then.")
			}
		}
	}
}

// destroyConnection checks the resource's connection, if destroy-time provisioners use it.
func (x *resource) destroyConnection() {
	for _, p := range x.Provisioners {
		if p.OnDestroy && x.Connection != nil {
			x.destroyReferences(x.Connection)
			return
		}
	}
}
