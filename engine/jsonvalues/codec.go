// Package jsonvalues writes and reads values as cty's JSON, the form of values in state and plan files. It
// writes the same bytes as cty/json's Marshal and reads the same texts as its Unmarshal. It exists for speed:
// cty/json uses a buffer for each attribute, and reads the text again for each level of nesting.
//
// The package does not depend on schemas and files: a codec is for a type. Start at [Codec].
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
	// mixed is true if values of this type can have different concrete types.
	mixed bool
	// met has the codecs for the types of earlier dynamic values.
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

// Append appends v as JSON for a reader that expects type ty. v must be known and without marks, including
// all its parts. For many values of one type, use a [Codec].
func Append(dst []byte, v cty.Value, ty cty.Type) ([]byte, error) {
	return NewCodec(ty).Append(dst, v)
}

// Parse reads a value of type ty, as [Append] writes it. It converts primitive types to each other. Missing
// attributes become null.
func Parse(src []byte, ty cty.Type) (cty.Value, error) {
	return NewCodec(ty).Parse(src)
}
