package schema

import (
	"encoding/json"
	"errors"
	"maps"
	"math/big"
	"slices"
	"sort"
	"unicode/utf8"

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

// A jsonParser reads one text from front to back. Its methods report false for
// anything that is not plainly what the codec expects; the whole text is then left
// to cty.
type jsonParser struct {
	src []byte
	pos int
}

// peek skips white space and returns the next byte, or 0 at the end.
func (p *jsonParser) peek() byte {
	for p.pos < len(p.src) {
		switch b := p.src[p.pos]; b {
		case ' ', '\t', '\r', '\n':
			p.pos++
		default:
			return b
		}
	}
	return 0
}

// take consumes b if it is the next byte.
func (p *jsonParser) take(b byte) bool {
	if p.peek() != b {
		return false
	}
	p.pos++
	return true
}

// word consumes w if it comes next.
func (p *jsonParser) word(w string) bool {
	if p.peek(); len(p.src)-p.pos < len(w) || string(p.src[p.pos:p.pos+len(w)]) != w {
		return false
	}
	p.pos += len(w)
	return true
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
		return p.dynamic()
	}
	return cty.NilVal, false
}

// text reads a string. The bytes are lent.
func (p *jsonParser) text() ([]byte, bool) {
	if p.peek() != '"' {
		return nil, false
	}
	start := p.pos
	plain := true
	for i := start + 1; i < len(p.src); i++ {
		switch b := p.src[i]; {
		case b == '"':
			p.pos = i + 1
			if plain {
				return p.src[start+1 : i], true
			}
			var s string
			err := json.Unmarshal(p.src[start:p.pos], &s)
			return []byte(s), err == nil
		case b == '\\':
			plain = false
			i++
		case b < ' ':
			return nil, false
		case b >= utf8.RuneSelf:
			plain = false
		}
	}
	return nil, false
}

// number reads a number into what [cty.ParseNumberVal] makes of it.
func (p *jsonParser) number() (cty.Value, bool) {
	p.peek()
	start := p.pos
	negative := p.digit('-')
	lead := p.pos
	if !p.digits() || p.src[lead] == '0' && p.pos-lead > 1 {
		return cty.NilVal, false
	}
	whole := p.src[lead:p.pos]
	short := len(whole) <= 18
	if p.digit('.') {
		short = false
		if !p.digits() {
			return cty.NilVal, false
		}
	}
	if p.digit('e') || p.digit('E') {
		short = false
		_ = p.digit('+') || p.digit('-')
		if !p.digits() {
			return cty.NilVal, false
		}
	}
	if short {
		var n int64
		for _, d := range whole {
			n = n*10 + int64(d-'0')
		}
		if negative {
			n = -n
		}
		if n != 0 || !negative {
			return cty.NumberVal(new(big.Float).SetPrec(512).SetInt64(n)), true
		}
	}
	v, err := cty.ParseNumberVal(string(p.src[start:p.pos]))
	return v, err == nil
}

// digit consumes b if it is the very next byte.
func (p *jsonParser) digit(b byte) bool {
	if p.pos < len(p.src) && p.src[p.pos] == b {
		p.pos++
		return true
	}
	return false
}

// digits consumes digits, at least one.
func (p *jsonParser) digits() bool {
	start := p.pos
	for p.pos < len(p.src) && '0' <= p.src[p.pos] && p.src[p.pos] <= '9' {
		p.pos++
	}
	return p.pos > start
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
func (p *jsonParser) dynamic() (cty.Value, bool) {
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
	t, ok := parseType(ty)
	if !ok || val == nil {
		return cty.NilVal, false
	}
	in := jsonParser{src: val}
	v, ok := in.value(NewJSONCodec(t))
	return v, ok && in.pos == len(val)
}

// skip consumes a value, without looking closely: it is read again later.
func (p *jsonParser) skip() bool {
	depth := 0
	for p.pos < len(p.src) {
		switch p.peek() {
		case 0:
			return false
		case '"':
			if _, ok := p.text(); !ok {
				return false
			}
		case '{', '[':
			depth++
			p.pos++
		case '}', ']':
			depth--
			p.pos++
		default:
			p.pos++
			if depth == 0 && p.pos < len(p.src) && !ends(p.src[p.pos]) {
				continue
			}
		}
		if depth <= 0 {
			return depth == 0
		}
	}
	return false
}

// ends reports whether b cannot be part of a number or a word.
func ends(b byte) bool {
	switch b {
	case ',', '}', ']', ' ', '\t', '\r', '\n':
		return true
	}
	return false
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
