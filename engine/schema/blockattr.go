package schema

import (
	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"
)

// Attributes written as blocks
//
// Providers on the legacy SDK may declare a list or set of objects as an attribute
// while their users go on writing blocks, as they did before Terraform 0.12:
//
//	ingress {              ingress = [{
//	  port = 80      or      port = 80
//	}                      }]
//
// So an attribute of such a type is asked for as an attribute if the body has it
// as one, and as blocks else. Blocks are decoded by a layout made from the type of
// the elements, in which nothing is required. A consequence that Terraform shares:
// such an attribute is not reported as missing, even where it is required.

// mayBeBlocks reports whether an attribute of type ty may be written as blocks.
func mayBeBlocks(ty cty.Type) bool {
	return (ty.IsListType() || ty.IsSetType()) && ty.ElementType().IsObjectType()
}

// elementLayout returns the layout of a block that stands for an object of type ty.
func elementLayout(ty cty.Type) *layout {
	b := &Block{Attributes: make(map[string]*Attribute)}
	for name, aty := range ty.AttributeTypes() {
		b.Attributes[name] = &Attribute{Type: aty, Optional: true}
	}
	return b.layout()
}

// dynamicHeader is the header of a dynamic block.
var dynamicHeader = hcl.BlockHeaderSchema{Type: "dynamic", LabelNames: []string{"type"}}

// mapLabels name the label of a block that is nested as a map.
var mapLabels = []string{"key"}

// bodySchema returns what to ask of a body where the attributes named are written
// as attributes, and all others that may be are blocks.
func (l *layout) bodySchema(plain hcl.Attributes) *hcl.BodySchema {
	s := &hcl.BodySchema{
		Attributes: make([]hcl.AttributeSchema, 0, len(l.attrs)),
		Blocks:     make([]hcl.BlockHeaderSchema, 0, len(l.blocks)),
	}
	for i := range l.attrs {
		f := &l.attrs[i]
		if f.element != nil && plain[f.name] == nil {
			s.Blocks = append(s.Blocks, hcl.BlockHeaderSchema{Type: f.name})
			continue
		}
		s.Attributes = append(s.Attributes, hcl.AttributeSchema{Name: f.name, Required: f.Required})
	}
	for i := range l.blocks {
		h := hcl.BlockHeaderSchema{Type: l.blocks[i].name}
		if l.blocks[i].Nesting == NestingMap {
			h.LabelNames = mapLabels
		}
		s.Blocks = append(s.Blocks, h)
	}
	return s
}

// bodySchemaFor returns what to ask of body. With raw, dynamic blocks are asked
// for, too.
func (l *layout) bodySchemaFor(body hcl.Body, raw bool) *hcl.BodySchema {
	s, cached := l.asked, true
	if l.either {
		var probe hcl.BodySchema
		for i := range l.attrs {
			if l.attrs[i].element != nil {
				probe.Attributes = append(probe.Attributes, hcl.AttributeSchema{Name: l.attrs[i].name})
			}
		}
		if found, _, _ := body.PartialContent(&probe); found != nil && len(found.Attributes) > 0 {
			s, cached = l.bodySchema(found.Attributes), false
		}
	}
	switch {
	case !raw:
		return s
	case cached:
		return l.raw
	}
	return withDynamic(s)
}

// withDynamic returns s with dynamic blocks.
func withDynamic(s *hcl.BodySchema) *hcl.BodySchema {
	blocks := make([]hcl.BlockHeaderSchema, 0, len(s.Blocks)+1)
	return &hcl.BodySchema{
		Attributes: s.Attributes,
		Blocks:     append(append(blocks, s.Blocks...), dynamicHeader),
	}
}
