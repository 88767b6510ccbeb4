package formats

import (
	"maps"
	"slices"

	"github.com/zclconf/go-cty/cty"

	"github.com/lockstep-iac/lockstep/engine/marks"
	"github.com/lockstep-iac/lockstep/engine/schema"
)

// # Why shapes
//
// A plan of thousands of objects writes each of them several times: before, after, and their masks. The
// simple way is slow: it marks a value by its schema, unmarks it, sorts its attributes and encodes their
// names, each time with a copy of the value. A shape does once all work that depends only on the schema. The
// methods below go through value and shape together, without a copy.

// A shape is a schema's block or object, prepared for writing many of its values: sorted names, encoded keys,
// and the sensitive attributes.
type shape struct {
	fields []shapeField
}

type shapeField struct {
	name      string
	key       string // `"name":`
	sensitive bool
	// in is the shape of the objects inside, and nesting is how they form one value. in is nil for an
	// attribute of a plain type.
	in      *shape
	nesting schema.Nesting
	// simple is set if the values of the field have no parts.
	simple bool
}

// shapes are the shapes made so far, by schema.
type shapes map[*schema.Block]*shape

func (m shapes) of(b *schema.Block) *shape {
	if s := m[b]; s != nil {
		return s
	}
	s := &shape{}
	m[b] = s
	for _, name := range slices.Sorted(maps.Keys(b.Attributes)) {
		s.fields = append(s.fields, newShapeField(name, b.Attributes[name]))
	}
	for name, n := range b.Blocks {
		s.fields = append(s.fields, shapeField{name: name, in: m.of(n.Block), nesting: n.Nesting})
	}
	s.finish()
	return s
}

func newShapeField(name string, a *schema.Attribute) shapeField {
	f := shapeField{name: name, sensitive: a.Sensitive}
	if a.Nested == nil {
		f.simple = a.Type.IsPrimitiveType()
		return f
	}
	f.in, f.nesting = &shape{}, a.Nested.Nesting
	for _, n := range slices.Sorted(maps.Keys(a.Nested.Attributes)) {
		f.in.fields = append(f.in.fields, newShapeField(n, a.Nested.Attributes[n]))
	}
	f.in.finish()
	return f
}

func (s *shape) finish() {
	slices.SortFunc(s.fields, func(a, b shapeField) int {
		if a.name < b.name {
			return -1
		}
		return 1
	})
	for i := range s.fields {
		s.fields[i].key = string(appendString(nil, s.fields[i].name)) + ":"
	}
}

// fits reports whether v has all attributes of s. A value that was stored with another schema may not have
// them.
func (s *shape) fits(v cty.Value) bool {
	return s != nil && v.Type().IsObjectType() && len(v.Type().AttributeTypes()) == len(s.fields)
}

// object writes v with the members of s. It reports whether the whole value is known.
func (t *jsonText) object(v cty.Value, s *shape) bool {
	v, _ = v.Unmark()
	if v.IsNull() || !v.IsKnown() || !s.fits(v) {
		return t.anything(v)
	}
	whole := true
	t.openObject()
	for i := range s.fields {
		f := &s.fields[i]
		e, _ := v.GetAttr(f.name).Unmark()
		if !e.IsKnown() {
			whole = false
			continue
		}
		t.next()
		t.b = append(t.b, f.key...)
		whole = t.nested(e, f) && whole
	}
	t.closeObject()
	return whole
}

// nested writes the value of a field, and reports whether the whole value is known. An unknown element of a
// list or a set becomes null, so that the other elements keep their positions. An unknown element of a map is
// left out.
func (t *jsonText) nested(v cty.Value, f *shapeField) bool {
	if f.in == nil || v.IsNull() {
		return t.anything(v)
	}
	if f.nesting == schema.NestingSingle || f.nesting == schema.NestingGroup {
		return t.object(v, f.in)
	}
	whole := true
	mapping := f.nesting == schema.NestingMap
	if mapping {
		t.openObject()
	} else {
		t.openArray()
	}
	for it := v.ElementIterator(); it.Next(); {
		k, e := it.Element()
		if !isKnown(e) {
			whole = false
			if mapping {
				continue
			}
		}
		if mapping {
			t.key(k.AsString())
		}
		whole = t.object(e, f.in) && whole
	}
	if mapping {
		t.closeObject()
	} else {
		t.closeArray()
	}
	return whole
}

// anything writes v, or null if v is unknown. It reports whether the whole value is known.
func (t *jsonText) anything(v cty.Value) bool {
	if v.IsKnown() && (v.IsNull() || v.Type().IsPrimitiveType()) {
		return t.value(v)
	}
	if !t.value(v) {
		t.rawString("null")
		return false
	}
	return v.IsWhollyKnown()
}

// sensitiveObject writes the mask of the sensitive values in v: true in place of a sensitive value, and an
// object or an array around it. A value is sensitive by its mark or by the schema. Attributes with no
// sensitive part are left out, unless they have parts: Terraform writes empty objects and arrays for these.
// Source: https://developer.hashicorp.com/terraform/internals/json-format#change-representation
func (t *jsonText) sensitiveObject(v cty.Value, s *shape) {
	if bare, _ := v.Unmark(); v.HasMark(marks.Sensitive) || bare.IsNull() || !bare.IsKnown() || !s.fits(bare) {
		t.sensitive(v)
		return
	}
	v, _ = v.Unmark()
	t.openObject()
	for i := range s.fields {
		f := &s.fields[i]
		e := v.GetAttr(f.name)
		if !f.sensitive && !e.HasMark(marks.Sensitive) && (f.simple || isPlain(e)) {
			continue // false is left out
		}
		t.next()
		t.b = append(t.b, f.key...)
		t.sensitiveField(e, f)
	}
	t.closeObject()
}

func (t *jsonText) sensitiveField(v cty.Value, f *shapeField) {
	bare, _ := v.Unmark()
	switch {
	case f.sensitive || v.HasMark(marks.Sensitive):
		t.bool(true)
	case f.in == nil || bare.IsNull():
		t.sensitive(v)
	case f.nesting == schema.NestingSingle || f.nesting == schema.NestingGroup:
		t.sensitiveObject(v, f.in)
	case f.nesting == schema.NestingSet && f.sensitiveIn(bare):
		t.bool(true) // a mask cannot name single elements of a set
	case !bare.IsKnown() && f.nesting == schema.NestingMap:
		t.rawString("{}")
	case !bare.IsKnown():
		t.rawString("[]")
	case f.nesting == schema.NestingMap:
		t.sensitiveMap(bare, f.in)
	default:
		t.openArray()
		for it := bare.ElementIterator(); it.Next(); {
			_, e := it.Element()
			t.sensitiveObject(e, f.in)
		}
		t.closeArray()
	}
}

// sensitiveMap writes the mask of a map, whose elements have the shape in. It leaves out elements with no
// sensitive part.
func (t *jsonText) sensitiveMap(bare cty.Value, in *shape) {
	t.openObject()
	for it := bare.ElementIterator(); it.Next(); {
		k, e := it.Element()
		if isPlain(e) && !e.HasMark(marks.Sensitive) {
			continue
		}
		t.key(k.AsString())
		t.sensitiveObject(e, in)
	}
	t.closeObject()
}

// isPlain reports whether v has no parts.
func isPlain(v cty.Value) bool {
	v, _ = v.Unmark()
	ty := v.Type()
	return v.IsNull() || ty.IsPrimitiveType() || ty == cty.DynamicPseudoType || ty.IsCapsuleType()
}

// sensitiveIn reports whether any part of v is sensitive by the schema.
func (s *shape) sensitiveIn(v cty.Value) bool {
	v, _ = v.Unmark()
	if v.IsNull() || !v.IsKnown() {
		return false
	}
	return slices.ContainsFunc(s.fields, func(f shapeField) bool {
		return f.sensitive || f.in != nil && f.sensitiveIn(v.GetAttr(f.name))
	})
}

// sensitiveIn reports whether any object of a field has a sensitive part by the schema.
func (f *shapeField) sensitiveIn(v cty.Value) bool {
	v, _ = v.Unmark()
	if v.IsNull() || !v.IsKnown() {
		return false
	}
	if f.nesting == schema.NestingSingle || f.nesting == schema.NestingGroup {
		return f.in.sensitiveIn(v)
	}
	for it := v.ElementIterator(); it.Next(); {
		if _, e := it.Element(); f.in.sensitiveIn(e) {
			return true
		}
	}
	return false
}
