package schema

import (
	"bytes"
	"encoding/json"

	"github.com/zclconf/go-cty/cty"
)

// StripJSON returns src without the attributes, at any depth, that c's type does not have: a
// provider that gave up an attribute need not know it any more. A text without such attributes, or
// one that cannot be read, is returned as it is.
func (c *JSONCodec) StripJSON(src []byte) []byte {
	p := jsonParser{src: src}
	if p.familiar(c) {
		return src
	}
	var v any
	d := json.NewDecoder(bytes.NewReader(src))
	d.UseNumber() // no digit is to be lost
	if err := d.Decode(&v); err != nil || !strip(v, c.ty) {
		return src
	}
	out, err := json.Marshal(v)
	if err != nil {
		return src
	}
	return out
}

// familiar consumes a value, and reports whether it has only attributes that c knows. false may also
// mean that this cannot be told so quickly.
func (p *jsonParser) familiar(c *JSONCodec) bool {
	if !c.structured() {
		return p.skip()
	}
	switch p.peek() {
	case '{':
		return p.familiarPairs(c)
	case '[':
		if c.elem == nil {
			return false
		}
		p.pos++
		for !p.take(']') {
			if !p.familiar(c.elem) {
				return false
			}
			if !p.take(',') && p.peek() != ']' {
				return false
			}
		}
		return true
	}
	return p.skip()
}

// familiarPairs is familiar for an object or a map.
func (p *jsonParser) familiarPairs(c *JSONCodec) bool {
	p.pos++
	next := 0
	for !p.take('}') {
		name, ok := p.text()
		if !ok {
			return false
		}
		elem := c.elem
		if c.kind == jsonObject {
			if elem, next = c.field(string(name), next); elem == nil {
				return false
			}
		}
		if elem == nil || !p.take(':') || !p.familiar(elem) {
			return false
		}
		if !p.take(',') && p.peek() != '}' {
			return false
		}
	}
	return true
}

// field returns the codec of an attribute, and where to look for the one behind it: texts have them
// in the order that c has.
func (c *JSONCodec) field(name string, from int) (*JSONCodec, int) {
	for i := range c.fields {
		if at := (from + i) % len(c.fields); c.fields[at].name == name {
			return c.fields[at].codec, at + 1
		}
	}
	return nil, from
}

// structured reports whether there are objects in c's values, whose attributes are known.
func (c *JSONCodec) structured() bool {
	switch c.kind {
	case jsonObject, jsonTuple:
		return true
	case jsonList, jsonSet, jsonMap:
		return c.elem.structured()
	}
	return false
}

// strip takes out of v what ty does not have, and reports whether there was any.
func strip(v any, ty cty.Type) bool {
	found := false
	switch v := v.(type) {
	case []any:
		for i, x := range v {
			switch {
			case ty.IsListType() || ty.IsSetType():
				found = strip(x, ty.ElementType()) || found
			case ty.IsTupleType() && i < ty.Length():
				found = strip(x, ty.TupleElementType(i)) || found
			}
		}
	case map[string]any:
		for name, x := range v {
			switch {
			case ty.IsMapType():
				found = strip(x, ty.ElementType()) || found
			case ty.IsObjectType() && !ty.HasAttribute(name):
				delete(v, name)
				found = true
			case ty.IsObjectType():
				found = strip(x, ty.AttributeType(name)) || found
			}
		}
	}
	return found
}
