package decoding

import (
	"github.com/hashicorp/hcl/v2"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/config"
)

var checkSchema = &hcl.BodySchema{Blocks: []hcl.BlockHeaderSchema{
	{Type: "data", LabelNames: []string{"type", "name"}}, {Type: "assert"},
}}

// check reads a check block.
func (d *Decoder) check(b *hcl.Block) {
	c := &config.Check{Name: b.Labels[0], Range: b.DefRange}
	content := d.contentOf(b.Body, checkSchema)
	d.name(b, 0, "Invalid check block name")
	for _, n := range content.Blocks {
		if n.Type == "assert" {
			errors := len(d.diags)
			if a := d.condition(n); len(d.diags) == errors {
				c.Asserts = append(c.Asserts, a)
			}
			continue
		}
		if c.Data != nil {
			d.errorf(&n.DefRange, "Multiple data resource blocks", "A check block may have only one data block. The first one is at %s.", at(c.Data.Range))
			continue
		}
		data := d.resourceBlock(n, addrs.Data)
		c.Data = data.Resource
		if lc := data.lifecycleRange; lc != nil {
			d.errorf(lc, "Invalid lifecycle block", "A data block inside a check block cannot have a lifecycle block: the check takes its place.")
		}
		d.scopedData(c.Data)
	}
	if len(c.Asserts) == 0 {
		d.errorf(&c.Range, "Zero assert blocks", "A check block needs at least one assert block.")
	}
	old := d.content.Checks[c.Name]
	if old != nil {
		d.duplicate(c.Range, "Duplicate check \""+c.Name+"\" configuration", "check."+c.Name, old.Range)
		return
	}
	d.content.Checks[c.Name] = c
	if c.Data == nil {
		return
	}
	if old := d.content.Resources[c.Data.Addr]; old != nil {
		d.duplicateResource(c.Data, old)
		return
	}
	d.content.Resources[c.Data.Addr] = c.Data
}

// scopedData refuses count and for_each in a data block inside a check.
func (r *reader) scopedData(x *config.Resource) {
	for name, e := range map[string]hcl.Expression{"count": x.Count, "for_each": x.ForEach} {
		if e != nil {
			r.errorf(e.Range().Ptr(), "Invalid \""+name+"\" attribute", "A data block inside a check block cannot have the argument %q.", name)
		}
	}
}
