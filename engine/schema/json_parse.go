package schema

import (
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"sort"
	"sync"

	"github.com/zclconf/go-cty/cty"
	ctyjson "github.com/zclconf/go-cty/cty/json"
)

// Parse reads a value of c's type. Errors are cty's, with a path where one helps.
func (c *JSONCodec) Parse(src []byte) (cty.Value, error) {
	p := jsonParser{src: src}
	v, ok := p.value(c)
	if ok && p.peek() == 0 && p.pos == len(src) {
		return v, nil
	}
	return c.parseSlowly(src)
}

// parseSlowly leaves src to cty: what needs a conversion, and what is an error. cty
// panics at some texts that do not fit the type (a tuple too short, a list of values
// whose types differ); for us they are errors like others.
func (c *JSONCodec) parseSlowly(src []byte) (v cty.Value, err error) {
	defer func() {
		if recover() != nil {
			v, err = cty.NilVal, errors.New("the value does not fit its type")
		}
	}()
	return ctyjson.Unmarshal(src, c.ty)
}

func (p *jsonParser) value(c *JSONCodec) (cty.Value, bool) {
	next := p.peek()
	if next == 'n' {
		return c.null, p.word("null")
	}
	switch c.kind {
	case jsonString:
		s, ok := p.text()
		return cty.StringVal(string(s)), ok
	case jsonNumber:
		return p.number()
	case jsonBool:
		if next == 't' {
			return cty.True, p.word("true")
		}
		return cty.False, p.word("false")
	case jsonList, jsonSet, jsonTuple:
		return p.array(c)
	case jsonMap:
		return p.mapping(c)
	case jsonObject:
		return p.object(c)
	case jsonDynamic:
		return p.dynamic(c)
	}
	return cty.NilVal, false
}

func (p *jsonParser) array(c *JSONCodec) (cty.Value, bool) {
	if !p.take('[') {
		return cty.NilVal, false
	}
	var vals []cty.Value
	for !p.take(']') {
		if len(vals) > 0 && !p.take(',') {
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
	case c.kind == jsonTuple:
		return cty.TupleVal(vals), len(vals) == len(c.elems)
	case c.mixed && !alike(vals):
		return cty.NilVal, false
	case c.kind == jsonList && len(vals) == 0:
		return cty.ListValEmpty(c.elem.ty), true
	case c.kind == jsonList:
		return cty.ListVal(vals), true
	case len(vals) == 0:
		return cty.SetValEmpty(c.elem.ty), true
	}
	return cty.SetVal(vals), true
}

// alike reports whether all of vals have one type.
func alike(vals []cty.Value) bool {
	for _, v := range vals {
		if !v.Type().Equals(vals[0].Type()) {
			return false
		}
	}
	return true
}

func (p *jsonParser) mapping(c *JSONCodec) (cty.Value, bool) {
	if !p.take('{') {
		return cty.NilVal, false
	}
	vals := make(map[string]cty.Value)
	for first := true; !p.take('}'); first = false {
		if !first && !p.take(',') {
			return cty.NilVal, false
		}
		key, ok := p.text()
		if !ok || !p.take(':') {
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

func (p *jsonParser) object(c *JSONCodec) (cty.Value, bool) {
	if !p.take('{') {
		return cty.NilVal, false
	}
	vals := make(map[string]cty.Value, len(c.fields))
	next := 0 // where the field is, if they come in order
	for first := true; !p.take('}'); first = false {
		if !first && !p.take(',') {
			return cty.NilVal, false
		}
		key, ok := p.text()
		if !ok || !p.take(':') {
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
		for i := range c.fields {
			if _, ok := vals[c.fields[i].name]; !ok {
				vals[c.fields[i].name] = c.fields[i].codec.null
			}
		}
	}
	return object(vals), true
}

// dynamic reads a value with its type: {"value": ..., "type": ...}, in any order.
func (p *jsonParser) dynamic(c *JSONCodec) (cty.Value, bool) {
	if !p.take('{') {
		return cty.NilVal, false
	}
	var val, ty []byte
	for first := true; !p.take('}'); first = false {
		if !first && !p.take(',') {
			return cty.NilVal, false
		}
		key, ok := p.text()
		if !ok || !p.take(':') {
			return cty.NilVal, false
		}
		p.peek()
		start := p.pos
		if !p.skip() {
			return cty.NilVal, false
		}
		switch string(key) {
		case "value":
			val = p.src[start:p.pos]
		case "type":
			ty = p.src[start:p.pos]
		default:
			return cty.NilVal, false
		}
	}
	codec := c.met.of(ty)
	if codec == nil || val == nil {
		return cty.NilVal, false
	}
	in := jsonParser{src: val}
	v, ok := in.value(codec)
	return v, ok && in.pos == len(val)
}

// parseType reads a type in cty's JSON.
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

// codecs are the codecs of types by their text in JSON. Objects of one kind mostly have the
// same few types, and to read a type takes longer than to read the value.
type codecs struct {
	mu sync.RWMutex
	by map[string]*JSONCodec
}

// mostCodecs is how many types are kept: text that is not to be trusted must not fill
// the memory.
const mostCodecs = 1000

// of returns the codec of a type, or nil if the text is none.
func (c *codecs) of(text []byte) *JSONCodec {
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
	made := NewJSONCodec(t)
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.by == nil {
		c.by = map[string]*JSONCodec{}
	}
	if len(c.by) < mostCodecs {
		c.by[string(text)] = made
	}
	return made
}
