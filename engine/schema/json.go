package schema

import (
	"maps"
	"slices"

	"github.com/zclconf/go-cty/cty"
)

// A JSONCodec writes and reads the values of one type as cty's JSON: what state
// and plan files hold. It writes the bytes that cty/json's Marshal writes and reads
// what its Unmarshal reads; it is there because those take, for each attribute, a
// buffer, and for each level another pass over the text. Safe for concurrent use.
type JSONCodec struct {
	ty     cty.Type
	kind   jsonKind
	elem   *JSONCodec   // of lists, sets and maps
	elems  []*JSONCodec // of tuples
	fields []jsonField  // of objects, by name
	null   cty.Value
	// mixed says that values of this type can have types that differ.
	mixed bool
	// met are the codecs of the types that values of any type have had.
	met *codecs
}

type jsonKind byte

const (
	jsonOther jsonKind = iota // capsules: left to cty
	jsonDynamic
	jsonString
	jsonNumber
	jsonBool
	jsonList
	jsonSet
	jsonMap
	jsonTuple
	jsonObject
)

type jsonField struct {
	name  string
	key   string // `"name":`
	codec *JSONCodec
}

// NewJSONCodec returns the codec for values of type ty.
func NewJSONCodec(ty cty.Type) *JSONCodec {
	c := &JSONCodec{ty: ty, null: cty.NullVal(ty), mixed: ty.HasDynamicTypes()}
	switch {
	case ty == cty.DynamicPseudoType:
		c.kind, c.met = jsonDynamic, &codecs{}
	case ty == cty.String:
		c.kind = jsonString
	case ty == cty.Number:
		c.kind = jsonNumber
	case ty == cty.Bool:
		c.kind = jsonBool
	case ty.IsListType():
		c.kind, c.elem = jsonList, NewJSONCodec(ty.ElementType())
	case ty.IsSetType():
		c.kind, c.elem = jsonSet, NewJSONCodec(ty.ElementType())
	case ty.IsMapType():
		c.kind, c.elem = jsonMap, NewJSONCodec(ty.ElementType())
	case ty.IsTupleType():
		c.kind = jsonTuple
		for _, ety := range ty.TupleElementTypes() {
			c.elems = append(c.elems, NewJSONCodec(ety))
		}
	case ty.IsObjectType():
		c.kind = jsonObject
		atys := ty.AttributeTypes()
		for _, name := range slices.Sorted(maps.Keys(atys)) {
			key := string(appendText(nil, name)) + ":"
			c.fields = append(c.fields, jsonField{name, key, NewJSONCodec(atys[name])})
		}
	}
	return c
}

// JSON returns the codec for values of b's implied type.
func (b *Block) JSON() *JSONCodec {
	b.once.codec.Do(func() { b.codec = NewJSONCodec(b.ImpliedType()) })
	return b.codec
}

// Type returns the type whose values c writes and reads.
func (c *JSONCodec) Type() cty.Type { return c.ty }

// AppendJSON appends v, which must be wholly known and unmarked, as JSON for a
// reader that expects type ty. Callers with many values of one type keep a
// [JSONCodec].
func AppendJSON(dst []byte, v cty.Value, ty cty.Type) ([]byte, error) {
	return NewJSONCodec(ty).Append(dst, v)
}

// ParseJSON reads a value of type ty, as [AppendJSON] writes it. Primitive types
// are converted to each other; attributes that are missing are null.
func ParseJSON(src []byte, ty cty.Type) (cty.Value, error) {
	return NewJSONCodec(ty).Parse(src)
}
