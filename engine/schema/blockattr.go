package schema

import (
	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"
)

// Attributes written as blocks
//
// Providers on the legacy SDK may declare a list or set of objects as an attribute, while users write blocks,
// as before Terraform 0.12:
//
//	ingress {              ingress = [{
//	  port = 80      or      port = 80
//	}                      }]
//
// So an attribute of such a type is read as an attribute if the body has an argument of this name, and as
// blocks otherwise. Blocks are decoded by a layout made from the type of the elements, in which nothing is
// required. As in Terraform, such an attribute is not reported as missing, even if it is required.
//
// If any part of a schema cannot come from the legacy SDK, its provider declares its types exactly, and this
// does not apply.

// mayBeBlocks reports whether an attribute of type ty may be written as blocks.
func mayBeBlocks(ty cty.Type) bool {
	return (ty.IsListType() || ty.IsSetType()) && ty.ElementType().IsObjectType()
}

// fromLegacySDK reports whether an attribute declared with the legacy SDK may have type ty: a primitive type,
// a collection of primitive types, a collection of such collections, or a list or set of objects.
func fromLegacySDK(ty cty.Type) bool {
	switch {
	case ty.IsObjectType() || ty.IsTupleType():
		return false
	case !ty.IsCollectionType():
		return true
	}
	ety := ty.ElementType()
	if ty.IsMapType() && ety.IsObjectType() {
		return false
	}
	return !ety.IsCollectionType() || ety.ElementType().IsPrimitiveType()
}

// elementLayout returns the layout of a block that is written instead of an object of type ty.
func elementLayout(ty cty.Type) *layout {
	b := &Block{Attributes: make(map[string]*Attribute)}
	for name, aty := range ty.AttributeTypes() {
		b.Attributes[name] = &Attribute{Type: aty, Optional: true}
	}
	return b.layout()
}

// dynamicHeader is the header of a dynamic block.
var dynamicHeader = hcl.BlockHeaderSchema{Type: "dynamic", LabelNames: []string{"type"}}

// mapLabels is the label of blocks with the nesting mode map.
var mapLabels = []string{"key"}

// bodySchemas are two schemas for a body: one for when its dynamic blocks are expanded, and one (raw) for
// before.
type bodySchemas struct{ expanded, raw *hcl.BodySchema }

func (s bodySchemas) get(raw bool) *hcl.BodySchema {
	if raw {
		return s.raw
	}
	return s.expanded
}

// bodySchemas returns the schemas for a body in which the attributes that asBlocks accepts are written as
// blocks.
func (l *layout) bodySchemas(asBlocks func(*field) bool) bodySchemas {
	s := &hcl.BodySchema{
		Attributes: make([]hcl.AttributeSchema, 0, len(l.attrs)),
		Blocks:     make([]hcl.BlockHeaderSchema, 0, len(l.blocks)+1),
	}
	for i := range l.attrs {
		f := &l.attrs[i]
		if asBlocks(f) {
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
	return bodySchemas{s, &hcl.BodySchema{Attributes: s.Attributes, Blocks: append(s.Blocks, dynamicHeader)}}
}

// bodySchemaFor returns the schema for body. If legacy is set, attributes may be written as blocks. If raw is
// set, dynamic blocks are not expanded yet.
func (l *layout) bodySchemaFor(body hcl.Body, legacy, raw bool) *hcl.BodySchema {
	if !legacy || !l.either {
		return l.asAttrs.get(raw)
	}
	var probe hcl.BodySchema
	for i := range l.attrs {
		if l.attrs[i].element != nil {
			probe.Attributes = append(probe.Attributes, hcl.AttributeSchema{Name: l.attrs[i].name})
		}
	}
	found, _, _ := body.PartialContent(&probe)
	if found == nil || len(found.Attributes) == 0 {
		return l.asBlocks.get(raw)
	}
	return l.bodySchemas(func(f *field) bool {
		return f.element != nil && found.Attributes[f.name] == nil
	}).get(raw)
}
