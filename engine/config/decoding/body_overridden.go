package decoding

import (
	"maps"

	"github.com/hashicorp/hcl/v2"

	"github.com/lockstep-iac/lockstep/engine/diags"
)

// overriddenBody returns the body base in which the arguments and blocks of the body over replace those of
// base.
func overriddenBody(base, over hcl.Body) hcl.Body { return &overridden{base, over} }

// An overridden body is a body whose arguments and blocks another body replaces: each argument alone, and all
// blocks of a type together.
type overridden struct{ base, over hcl.Body }

func (b *overridden) Content(s *hcl.BodySchema) (*hcl.BodyContent, hcl.Diagnostics) {
	base, ds := b.base.Content(optionalSchema(s))
	over, ods := b.over.Content(optionalSchema(s))
	out := b.merge(base, over)
	ds = append(append(ds, ods...), b.missing(s, out)...)
	return out, ds
}

func (b *overridden) PartialContent(s *hcl.BodySchema) (*hcl.BodyContent, hcl.Body, hcl.Diagnostics) {
	base, baseRest, ds := b.base.PartialContent(optionalSchema(s))
	over, overRest, ods := b.over.PartialContent(optionalSchema(s))
	out := b.merge(base, over)
	ds = append(append(ds, ods...), b.missing(s, out)...)
	return out, &overridden{baseRest, overRest}, ds
}

func (b *overridden) JustAttributes() (hcl.Attributes, hcl.Diagnostics) {
	base, ds := b.base.JustAttributes()
	over, ods := b.over.JustAttributes()
	out := maps.Clone(base)
	if out == nil {
		out = hcl.Attributes{}
	}
	maps.Copy(out, over)
	return out, append(ds, ods...)
}

func (b *overridden) MissingItemRange() hcl.Range { return b.base.MissingItemRange() }

// Parts returns the original body and the overriding body, for callers without a schema.
func (b *overridden) Parts() []hcl.Body { return []hcl.Body{b.base, b.over} }

func (b *overridden) merge(base, over *hcl.BodyContent) *hcl.BodyContent {
	out := &hcl.BodyContent{Attributes: hcl.Attributes{}, MissingItemRange: base.MissingItemRange}
	maps.Copy(out.Attributes, base.Attributes)
	maps.Copy(out.Attributes, over.Attributes)
	changed := map[string]bool{}
	for _, x := range over.Blocks {
		changed[bodyBlockType(x)] = true
	}
	for _, x := range base.Blocks {
		if !changed[bodyBlockType(x)] {
			out.Blocks = append(out.Blocks, x)
		}
	}
	out.Blocks = append(out.Blocks, over.Blocks...)
	return out
}

// bodyBlockType returns a block's type; for a dynamic block, the type of the blocks that it makes.
func bodyBlockType(b *hcl.Block) string {
	if b.Type == "dynamic" && len(b.Labels) > 0 {
		return b.Labels[0]
	}
	return b.Type
}

// missing returns an error for each required argument that neither the block nor its override has.
func (b *overridden) missing(s *hcl.BodySchema, c *hcl.BodyContent) hcl.Diagnostics {
	var ds hcl.Diagnostics
	for _, a := range s.Attributes {
		if a.Required && c.Attributes[a.Name] == nil {
			ds = append(ds, diags.HCLError(c.MissingItemRange.Ptr(), "Missing required argument",
				"The argument %q is required, but neither the block nor its overrides have it.", a.Name))
		}
	}
	return ds
}
