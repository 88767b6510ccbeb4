package jsonvalues

import (
	"bytes"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"sort"
	"sync"

	"github.com/zclconf/go-cty/cty"
	ctyjson "github.com/zclconf/go-cty/cty/json"

	"github.com/lockstep-iac/lockstep/engine/internal/jsonscan"
)

// Parse reads a value of c's type. Errors are cty's, with a path if possible.
func (c *Codec) Parse(src []byte) (cty.Value, error) {
	p := parser{Scanner: jsonscan.New(src)}
	v, ok := p.value(c)
	if ok && p.End() == nil {
		return v, nil
	}
	return c.parseSlowly(src)
}

// parseSlowly reads src with cty, which handles conversions and errors. cty panics at some texts that do not
// fit the type: a tuple that is too short, or a list whose values differ in type. parseSlowly returns an
// error for them.
func (c *Codec) parseSlowly(src []byte) (v cty.Value, err error) {
	defer func() {
		if recover() != nil {
			v, err = cty.NilVal, errors.New("the value does not fit its type")
		}
	}()
	return ctyjson.Unmarshal(src, c.ty)
}

func (p *parser) value(c *Codec) (cty.Value, bool) {
	next := p.Next()
	if next == 'n' {
		return c.null, p.Word("null") == nil
	}
	switch c.kind {
	case stringKind:
		s, ok := p.quoted()
		return cty.StringVal(string(s)), ok
	case numberKind:
		return p.number()
	case boolKind:
		if next == 't' {
			return cty.True, p.Word("true") == nil
		}
		return cty.False, p.Word("false") == nil
	case listKind, setKind, tupleKind:
		return p.array(c)
	case mapKind:
		return p.mapping(c)
	case objectKind:
		return p.object(c)
	case dynamicKind:
		return p.dynamic(c)
	}
	return cty.NilVal, false
}

func (p *parser) array(c *Codec) (cty.Value, bool) {
	if !p.Take('[') {
		return cty.NilVal, false
	}
	var vals []cty.Value
	for !p.Take(']') {
		if len(vals) > 0 && !p.Take(',') {
			return cty.NilVal, false
		}
		elem := c.elem
		if elem == nil {
			if len(vals) >= len(c.elems) {
				return cty.NilVal, false
			}
			elem = c.elems[len(vals)]
		}
		v, ok := p.value(elem)
		if !ok {
			return cty.NilVal, false
		}
		vals = append(vals, v)
	}
	switch {
	case c.kind == tupleKind:
		return cty.TupleVal(vals), len(vals) == len(c.elems)
	case c.mixed && !alike(vals):
		return cty.NilVal, false
	case c.kind == listKind && len(vals) == 0:
		return cty.ListValEmpty(c.elem.ty), true
	case c.kind == listKind:
		return cty.ListVal(vals), true
	case len(vals) == 0:
		return cty.SetValEmpty(c.elem.ty), true
	}
	return cty.SetVal(vals), true
}

// alike reports whether all of vals have the same type.
func alike(vals []cty.Value) bool {
	for _, v := range vals {
		if !v.Type().Equals(vals[0].Type()) {
			return false
		}
	}
	return true
}

func (p *parser) mapping(c *Codec) (cty.Value, bool) {
	if !p.Take('{') {
		return cty.NilVal, false
	}
	vals := make(map[string]cty.Value)
	for first := true; !p.Take('}'); first = false {
		if !first && !p.Take(',') {
			return cty.NilVal, false
		}
		key, ok := p.quoted()
		if !ok || !p.Take(':') {
			return cty.NilVal, false
		}
		name := string(key)
		if vals[name], ok = p.value(c.elem); !ok {
			return cty.NilVal, false
		}
	}
	if len(vals) == 0 {
		return cty.MapValEmpty(c.elem.ty), true
	}
	if c.mixed && !alike(slices.Collect(maps.Values(vals))) {
		return cty.NilVal, false
	}
	return cty.MapVal(vals), true
}

func (p *parser) object(c *Codec) (cty.Value, bool) {
	if !p.Take('{') {
		return cty.NilVal, false
	}
	vals := make(map[string]cty.Value, len(c.fields))
	next := 0 // the index of the next field, if the fields are in order
	for first := true; !p.Take('}'); first = false {
		if !first && !p.Take(',') {
			return cty.NilVal, false
		}
		key, ok := p.quoted()
		if !ok || !p.Take(':') {
			return cty.NilVal, false
		}
		if next >= len(c.fields) || c.fields[next].name != string(key) {
			name := string(key)
			next = sort.Search(len(c.fields), func(i int) bool { return c.fields[i].name >= name })
			if next == len(c.fields) || c.fields[next].name != name {
				return cty.NilVal, false
			}
		}
		f := &c.fields[next]
		if vals[f.name], ok = p.value(f.codec); !ok {
			return cty.NilVal, false
		}
		next++
	}
	if len(vals) < len(c.fields) {
		c.addNulls(vals)
	}
	if len(vals) == 0 {
		return cty.EmptyObjectVal, true
	}
	return cty.ObjectVal(vals), true
}

// addNulls adds null values for the missing attributes.
func (c *Codec) addNulls(vals map[string]cty.Value) {
	for i := range c.fields {
		if _, ok := vals[c.fields[i].name]; !ok {
			vals[c.fields[i].name] = c.fields[i].codec.null
		}
	}
}

// dynamic reads a value that is stored together with its type. The result is false if the text is not plain: it
// is then left to cty.
func (p *parser) dynamic(c *Codec) (cty.Value, bool) {
	val, ty, ok := p.valueAndType()
	if !ok || val == nil {
		return cty.NilVal, false
	}
	if bytes.Equal(val, p.lastText) && bytes.Equal(ty, p.lastType) {
		return p.last, true
	}
	codec := c.met.of(ty)
	if codec == nil {
		return cty.NilVal, false
	}
	in := parser{Scanner: jsonscan.New(val)}
	v, ok := in.value(codec)
	if !ok || in.End() != nil {
		return cty.NilVal, false
	}
	p.last, p.lastText, p.lastType = v, val, ty
	return v, true
}

// valueAndType reads {"value": ..., "type": ...}, in any order. A missing part is nil. ok is false for any
// other text.
func (p *parser) valueAndType() (val, ty []byte, ok bool) {
	if !p.Take('{') {
		return nil, nil, false
	}
	for first := true; !p.Take('}'); first = false {
		if !first && !p.Take(',') {
			return nil, nil, false
		}
		key, ok := p.quoted()
		if !ok || !p.Take(':') {
			return nil, nil, false
		}
		text, err := p.Raw()
		if err != nil {
			return nil, nil, false
		}
		switch string(key) {
		case "value":
			val = text
		case "type":
			ty = text
		default:
			return nil, nil, false
		}
	}
	return val, ty, true
}

// parseType reads a type in cty's JSON; false if src is not a type.
func parseType(src []byte) (cty.Type, bool) {
	switch string(src) {
	case `"string"`:
		return cty.String, true
	case `"number"`:
		return cty.Number, true
	case `"bool"`:
		return cty.Bool, true
	}
	var t cty.Type
	err := json.Unmarshal(src, &t)
	return t, err == nil && t != cty.NilType
}

// codecs has the codecs of types, by the JSON text of the type. Objects of one kind mostly have the same few
// types, and reading a type takes longer than reading the value.
type codecs struct {
	mu sync.RWMutex
	by map[string]*Codec
}

// mostCodecs is the largest number of types that are kept: a text that cannot be trusted must not fill the
// memory.
const mostCodecs = 1000

// of returns the codec of a type; nil if the text is not a type.
func (c *codecs) of(text []byte) *Codec {
	c.mu.RLock()
	known := c.by[string(text)]
	c.mu.RUnlock()
	if known != nil {
		return known
	}
	t, ok := parseType(text)
	if !ok {
		return nil
	}
	made := NewCodec(t)
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.by == nil {
		c.by = map[string]*Codec{}
	}
	if len(c.by) < mostCodecs {
		c.by[string(text)] = made
	}
	return made
}
