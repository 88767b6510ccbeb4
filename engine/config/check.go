package config

import (
	"github.com/hashicorp/hcl/v2"

	"github.com/lockstep-iac/lockstep/engine/addrs"
)

var checkSchema = &hcl.BodySchema{Blocks: []hcl.BlockHeaderSchema{
	{Type: "data", LabelNames: []string{"type", "name"}}, {Type: "assert"},
}}

// check reads a check block.
func (r *reader) check(b *hcl.Block) {
	c := &Check{Name: b.Labels[0], Range: b.DefRange}
	if r.override {
		r.errorf(&b.DefRange, "Can't override check blocks", "Check blocks can stand in normal files only, not in override files.")
		return
	}
	content := r.content(b.Body, checkSchema)
	r.name(b, 0, "Invalid check block name")
	for _, n := range content.Blocks {
		if n.Type == "assert" {
			errors := len(r.diags)
			if a := r.condition(n); len(r.diags) == errors {
				c.Asserts = append(c.Asserts, a)
			}
			continue
		}
		if c.Data != nil {
			r.errorf(&n.DefRange, "Multiple data resource blocks", "A check block may have only one data block. The first one is at %s.", at(c.Data.Range))
			continue
		}
		c.Data = r.resourceBlock(n, addrs.Data)
		if lc := c.Data.lifecycleRange; lc != nil {
			r.errorf(lc, "Invalid lifecycle block", "A data block inside a check block cannot have a lifecycle block: the check takes its place.")
		}
		r.scopedData(c.Data)
	}
	if len(c.Asserts) == 0 {
		r.errorf(&c.Range, "Zero assert blocks", "A check block needs at least one assert block.")
	}
	old := r.c.Checks[c.Name]
	if old != nil {
		r.duplicate(c.Range, "Duplicate check \""+c.Name+"\" configuration", "check."+c.Name, old.Range)
		return
	}
	r.c.Checks[c.Name] = c
	if c.Data == nil {
		return
	}
	if old := r.c.Resources[c.Data.Addr]; old != nil {
		r.duplicateResource(c.Data, old)
		return
	}
	r.c.Resources[c.Data.Addr] = c.Data
}

// scopedData refuses what a data block inside a check cannot have.
func (r *reader) scopedData(x *Resource) {
	for name, e := range map[string]hcl.Expression{"count": x.Count, "for_each": x.ForEach} {
		if e != nil {
			r.errorf(e.Range().Ptr(), "Invalid \""+name+"\" attribute", "A data block inside a check block cannot have the argument %q.", name)
		}
	}
}
