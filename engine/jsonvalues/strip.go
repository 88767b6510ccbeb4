package jsonvalues

import (
	"bytes"
	"encoding/json"
	"github.com/lockstep-iac/lockstep/engine/internal/jsonscan"

	"github.com/zclconf/go-cty/cty"
)

// Strip returns src without the attributes, at any depth, that c's type does not have: a newer version of a
// provider may have dropped attributes. A text without such attributes is returned unchanged, and so is an
// unreadable text.
func (c *Codec) Strip(src []byte) []byte {
	p := parser{Scanner: jsonscan.New(src)}
	if p.familiar(c) {
		return src
	}
	var v any
	d := json.NewDecoder(bytes.NewReader(src))
	d.UseNumber() // keeps all digits of numbers
	if err := d.Decode(&v); err != nil || !strip(v, c.ty) {
		return src
	}
	out, err := json.Marshal(v)
	if err != nil {
		return src
	}
	return out
}

// familiar reads a value, and reports whether it only has attributes that c knows. false can also mean that a
// slower check is needed.
func (p *parser) familiar(c *Codec) bool {
	if !c.structured() {
		return p.Skip() == nil
	}
	switch p.Next() {
	case '{':
		return p.familiarPairs(c)
	case '[':
		if c.elem == nil {
			return false
		}
		p.Take(p.Next())
		for !p.Take(']') {
			if !p.familiar(c.elem) {
				return false
			}
			if !p.Take(',') && p.Next() != ']' {
				return false
			}
		}
		return true
	}
	return p.Skip() == nil
}

// familiarPairs is [parser.familiar] for the attributes of an object or the elements of a map.
func (p *parser) familiarPairs(c *Codec) bool {
	p.Take(p.Next())
	next := 0
	for !p.Take('}') {
		name, ok := p.quoted()
		if !ok {
			return false
		}
		elem := c.elem
		if c.kind == objectKind {
			if elem, next = c.field(string(name), next); elem == nil {
				return false
			}
		}
		if elem == nil || !p.Take(':') || !p.familiar(elem) {
			return false
		}
		if !p.Take(',') && p.Next() != '}' {
			return false
		}
	}
	return true
}

// field returns the codec of an attribute, and the index at which to look for the next attribute: a text
// mostly has attributes in c's order. The codec is nil if c has no such attribute.
func (c *Codec) field(name string, from int) (*Codec, int) {
	for i := range c.fields {
		if at := (from + i) % len(c.fields); c.fields[at].name == name {
			return c.fields[at].codec, at + 1
		}
	}
	return nil, from
}

// structured reports whether c's values can contain objects or tuples.
func (c *Codec) structured() bool {
	switch c.kind {
	case objectKind, tupleKind:
		return true
	case listKind, setKind, mapKind:
		return c.elem.structured()
	}
	return false
}

// strip removes the attributes from v that ty does not have, and reports whether there were any.
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
		for name := range v {
			found = stripMember(v, name, ty) || found
		}
	}
	return found
}

func stripMember(v map[string]any, name string, ty cty.Type) bool {
	switch {
	case ty.IsMapType():
		return strip(v[name], ty.ElementType())
	case !ty.IsObjectType():
		return false
	case !ty.HasAttribute(name):
		delete(v, name)
		return true
	}
	return strip(v[name], ty.AttributeType(name))
}
