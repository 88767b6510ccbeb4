package jsonvalues

import (
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"unicode/utf8"

	"github.com/zclconf/go-cty/cty"
	ctyjson "github.com/zclconf/go-cty/cty/json"
)

// Append appends v as JSON. It is an error if v has unknown parts or marks, or cannot be converted to c's
// type; Append then returns dst unchanged.
func (c *Codec) Append(dst []byte, v cty.Value) ([]byte, error) {
	if out, ok := c.append(dst, v); ok {
		return out, nil
	}
	// Conversions and errors are left to cty.
	text, err := ctyjson.Marshal(v, c.ty)
	return append(dst, text...), err
}

// append appends v. It returns false if v needs a conversion or an error message.
func (c *Codec) append(dst []byte, v cty.Value) ([]byte, bool) {
	if v.IsMarked() || !v.IsKnown() {
		return dst, false
	}
	ty := v.Type()
	if c.kind == dynamicKind && ty != cty.DynamicPseudoType {
		return appendDynamic(dst, v)
	}
	if v.IsNull() {
		return append(dst, "null"...), c.accepts(ty)
	}
	switch c.kind {
	case stringKind:
		if ty != cty.String {
			return dst, false
		}
		return appendText(dst, v.AsString()), true
	case numberKind:
		if ty != cty.Number {
			return dst, false
		}
		return appendNumber(dst, v)
	case boolKind:
		if ty != cty.Bool {
			return dst, false
		}
		return strconv.AppendBool(dst, v.True()), true
	case listKind:
		return c.appendElements(dst, v, ty.IsListType())
	case setKind:
		return c.appendElements(dst, v, ty.IsSetType())
	case tupleKind:
		return c.appendElements(dst, v, ty.IsTupleType() && ty.Length() == len(c.elems))
	case mapKind:
		return c.appendMap(dst, v, ty)
	case objectKind:
		return c.appendObject(dst, v, ty)
	}
	return dst, false
}

// accepts reports whether a null of type ty certainly conforms to c's type.
func (c *Codec) accepts(ty cty.Type) bool {
	return ty == cty.DynamicPseudoType && c.kind == dynamicKind || ty.Equals(c.ty)
}

func (c *Codec) appendElements(dst []byte, v cty.Value, ok bool) ([]byte, bool) {
	if !ok {
		return dst, false
	}
	out := append(dst, '[')
	i := 0
	for it := v.ElementIterator(); it.Next(); i++ {
		if i > 0 {
			out = append(out, ',')
		}
		elem := c.elem
		if elem == nil {
			elem = c.elems[i]
		}
		_, e := it.Element()
		if out, ok = elem.append(out, e); !ok {
			return dst, false
		}
	}
	return append(out, ']'), true
}

func (c *Codec) appendMap(dst []byte, v cty.Value, ty cty.Type) ([]byte, bool) {
	if !ty.IsMapType() {
		return dst, false
	}
	out := append(dst, '{')
	ok := true
	i := 0
	for it := v.ElementIterator(); it.Next(); i++ {
		if i > 0 {
			out = append(out, ',')
		}
		k, e := it.Element()
		out = append(appendText(out, k.AsString()), ':')
		if out, ok = c.elem.append(out, e); !ok {
			return dst, false
		}
	}
	return append(out, '}'), true
}

func (c *Codec) appendObject(dst []byte, v cty.Value, ty cty.Type) ([]byte, bool) {
	if !ty.IsObjectType() || len(ty.AttributeTypes()) != len(c.fields) {
		return dst, false
	}
	out := append(dst, '{')
	ok := true
	for i := range c.fields {
		f := &c.fields[i]
		if !ty.HasAttribute(f.name) {
			return dst, false
		}
		if i > 0 {
			out = append(out, ',')
		}
		out = append(out, f.key...)
		if out, ok = f.codec.append(out, v.GetAttr(f.name)); !ok {
			return dst, false
		}
	}
	return append(out, '}'), true
}

// appendDynamic appends a value together with its type, for a reader that does not know the type. It returns
// false if v needs a conversion or an error message.
func appendDynamic(dst []byte, v cty.Value) ([]byte, bool) {
	ty, err := ctyjson.MarshalType(v.Type())
	if err != nil {
		return dst, false
	}
	out, ok := appendOwn(append(dst, `{"value":`...), v)
	if !ok {
		return dst, false
	}
	out = append(append(out, `,"type":`...), ty...)
	return append(out, '}'), true
}

// appendOwn appends a value in its own type. It creates no codec for most types. It returns false if v needs a
// conversion or an error message.
func appendOwn(dst []byte, v cty.Value) ([]byte, bool) {
	ty := v.Type()
	switch {
	case v.IsMarked() || !v.IsKnown():
		return dst, false
	case v.IsNull():
		return append(dst, "null"...), true
	case ty == cty.String:
		return appendText(dst, v.AsString()), true
	case ty == cty.Number:
		return appendNumber(dst, v)
	case ty == cty.Bool:
		return strconv.AppendBool(dst, v.True()), true
	case ty.IsTupleType():
		return appendOwnElements(dst, v)
	case ty.IsObjectType():
		return appendOwnAttributes(dst, v)
	}
	return NewCodec(ty).append(dst, v)
}

func appendOwnElements(dst []byte, v cty.Value) ([]byte, bool) {
	out, ok := append(dst, '['), true
	for it := v.ElementIterator(); it.Next(); {
		if len(out) > len(dst)+1 {
			out = append(out, ',')
		}
		_, e := it.Element()
		if out, ok = appendOwn(out, e); !ok {
			return dst, false
		}
	}
	return append(out, ']'), true
}

func appendOwnAttributes(dst []byte, v cty.Value) ([]byte, bool) {
	out, ok := append(dst, '{'), true
	for i, name := range slices.Sorted(maps.Keys(v.Type().AttributeTypes())) {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(appendText(out, name), ':')
		if out, ok = appendOwn(out, v.GetAttr(name)); !ok {
			return dst, false
		}
	}
	return append(out, '}'), true
}

// exact is the limit below which a float64 can represent every whole number.
const exact = 1 << 53

func appendNumber(dst []byte, v cty.Value) ([]byte, bool) {
	f := v.AsBigFloat()
	if f.IsInf() {
		return dst, false
	}
	// Write the number as an int64 only if it is a whole number that every precision in use represents exactly.
	// big.Float also writes such a number with all its digits.
	if n, acc := f.Int64(); acc == 0 && -exact < n && n < exact && f.Prec() >= 53 && (n != 0 || !f.Signbit()) {
		return strconv.AppendInt(dst, n, 10), true
	}
	return f.Append(dst, 'f', -1), true
}

// appendText appends s in quotes, exactly as encoding/json does by default.
func appendText(dst []byte, s string) []byte {
	if plainText(s) {
		dst = append(dst, '"')
		dst = append(dst, s...)
		return append(dst, '"')
	}
	text, err := json.Marshal(s)
	if err != nil {
		panic("schema: a string cannot be written as JSON: " + err.Error())
	}
	return append(dst, text...)
}

// plainText reports whether s needs no escapes in JSON.
func plainText(s string) bool {
	for i := 0; i < len(s); i++ {
		if c := s[i]; c < ' ' || c >= utf8.RuneSelf || c == '"' || c == '\\' || c == '<' || c == '>' || c == '&' {
			return false
		}
	}
	return true
}
