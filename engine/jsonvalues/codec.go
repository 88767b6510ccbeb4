// Package jsonvalues writes and reads values as cty's JSON, which state and plan files hold.
// It writes the bytes of cty/json's Marshal and reads the texts of its Unmarshal; it is
// there because those take a buffer for each attribute, and another pass over the text for
// each level.
//
// It refuses to know schemas and files: a codec is made for a type. Start at [Codec].
package jsonvalues

import (
	"maps"
	"slices"

	"github.com/zclconf/go-cty/cty"
)

// A Codec writes and reads the values of one type. It is safe for concurrent use.
type Codec struct {
	ty     cty.Type
	kind   kindOf
	elem   *Codec      // of lists, sets and maps
	elems  []*Codec    // of tuples
	fields []attribute // of objects, by name
	null   cty.Value
	// mixed is set if values of this type can have types that differ.
	mixed bool
	// met holds the codecs for the types of earlier dynamic values.
	met *codecs
}

type kindOf byte

const (
	otherKind kindOf = iota // capsules: left to cty
	dynamicKind
	stringKind
	numberKind
	boolKind
	listKind
	setKind
	mapKind
	tupleKind
	objectKind
)

type attribute struct {
	name  string
	key   string // `"name":`
	codec *Codec
}

// NewCodec returns the codec for values of type ty.
func NewCodec(ty cty.Type) *Codec {
	c := &Codec{ty: ty, null: cty.NullVal(ty), mixed: ty.HasDynamicTypes()}
	switch {
	case ty == cty.DynamicPseudoType:
		c.kind, c.met = dynamicKind, &codecs{}
	case ty == cty.String:
		c.kind = stringKind
	case ty == cty.Number:
		c.kind = numberKind
	case ty == cty.Bool:
		c.kind = boolKind
	case ty.IsListType():
		c.kind, c.elem = listKind, NewCodec(ty.ElementType())
	case ty.IsSetType():
		c.kind, c.elem = setKind, NewCodec(ty.ElementType())
	case ty.IsMapType():
		c.kind, c.elem = mapKind, NewCodec(ty.ElementType())
	case ty.IsTupleType():
		c.kind = tupleKind
		for _, ety := range ty.TupleElementTypes() {
			c.elems = append(c.elems, NewCodec(ety))
		}
	case ty.IsObjectType():
		c.kind = objectKind
		atys := ty.AttributeTypes()
		for _, name := range slices.Sorted(maps.Keys(atys)) {
			key := string(appendText(nil, name)) + ":"
			c.fields = append(c.fields, attribute{name, key, NewCodec(atys[name])})
		}
	}
	return c
}

// Type returns the type whose values c writes and reads.
func (c *Codec) Type() cty.Type { return c.ty }

// Append appends v, which must be wholly known and unmarked, as JSON for a
// reader that expects type ty. Callers with many values of one type keep a
// [Codec].
func Append(dst []byte, v cty.Value, ty cty.Type) ([]byte, error) {
	return NewCodec(ty).Append(dst, v)
}

// Parse reads a value of type ty, as [Append] writes it. Primitive types
// are converted to each other; attributes that are missing are null.
func Parse(src []byte, ty cty.Type) (cty.Value, error) {
	return NewCodec(ty).Parse(src)
}
