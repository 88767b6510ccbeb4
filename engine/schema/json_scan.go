package schema

import (
	"encoding/json"
	"math/big"
	"unicode/utf8"

	"github.com/zclconf/go-cty/cty"
)

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
