package decoding

import (
	"github.com/hashicorp/hcl/v2"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/config"
)

// queryTypes are the types of blocks that a query file may have, in addition to list.
var queryTypes = []string{"variable", "locals", "provider"}

var listType = blockType{"list", []string{"type", "name"}, (*Decoder).list, refusal{}}

// querySchema is the schema of query files, as fileSchema is the schema of configuration files.
var querySchema = func() *hcl.BodySchema {
	s := &hcl.BodySchema{Blocks: []hcl.BlockHeaderSchema{{Type: listType.name, LabelNames: listType.labels}}}
	for _, name := range queryTypes {
		s.Blocks = append(s.Blocks, hcl.BlockHeaderSchema{Type: name, LabelNames: decoders[name].labels})
	}
	return s
}()

// QueryFile decodes one query file. Its variables, local values and provider blocks are the module's.
func (d *Decoder) QueryFile(body hcl.Body) {
	d.override = false
	_, schema := d.schemas()
	content, ds := body.Content(schema)
	d.add(ds)
	for _, b := range content.Blocks {
		if b.Type == listType.name {
			listType.decode(d, b)
		} else {
			decoders[b.Type].decode(d, b)
		}
	}
}

var listSchema = &hcl.BodySchema{
	Attributes: []hcl.AttributeSchema{{Name: "provider", Required: true}, {Name: "count"}, {Name: "for_each"}, {Name: "include_resource"}, {Name: "limit"}},
	Blocks:     []hcl.BlockHeaderSchema{{Type: "config"}},
}

// list reads a list block.
func (d *Decoder) list(b *hcl.Block) {
	l := &config.List{Type: b.Labels[0], Name: b.Labels[1], Range: b.DefRange, TypeRange: b.LabelRanges[0]}
	d.name(b, 0, "Invalid list type")
	d.name(b, 1, "Invalid list name")
	content := d.contentOf(b.Body, listSchema)
	attrs := content.Attributes
	l.Repetition = d.repetition(attrs)
	l.IncludeResource, l.Limit = expr(attrs["include_resource"]), expr(attrs["limit"])
	l.Provider = addrs.LocalProviderConfig{LocalName: l.Resource().ImpliedProvider()}
	if a := attrs["provider"]; a != nil {
		if local, ok := d.providerRef(a.Expr); ok {
			l.Provider = local
		}
	}
	var first *hcl.Block
	for _, x := range content.Blocks {
		if d.once(&first, x, "Duplicate config block", "A list block may have only one config block.") {
			l.Config = x.Body
		}
	}
	for _, old := range d.content.Lists {
		if old.String() == l.String() {
			d.duplicate(l.Range, "Duplicate list \""+l.Type+"\" configuration", l.String(), old.Range)
			return
		}
	}
	d.content.Lists = append(d.content.Lists, l)
}
