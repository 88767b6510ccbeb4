package jsonvalues

import (
	"math/big"

	"github.com/zclconf/go-cty/cty"

	"github.com/lockstep-iac/lockstep/engine/internal/jsonscan"
)

// A parser reads one text from the beginning to the end. Its methods return false for everything but a plain
// value of the codec's type. The whole text is then left to cty.
type parser struct {
	jsonscan.Scanner
	// last is the last dynamic value; the next fields are its text and the text of its type. Often several
	// attributes of an object have the same dynamic value, such as an input that is also an output.
	last               cty.Value
	lastText, lastType []byte
}

// quoted reads a string; false if the text is not a string. The bytes belong to the parser: the caller must not
// keep them.
func (p *parser) quoted() ([]byte, bool) {
	text, err := p.Quoted()
	return text, err == nil
}

// number reads a number, as [cty.ParseNumberVal] does; false if the text is not a number.
func (p *parser) number() (cty.Value, bool) {
	text, err := p.Number()
	if err != nil {
		return cty.NilVal, false
	}
	if v, ok := whole(text); ok {
		return v, true
	}
	v, err := cty.ParseNumberVal(string(text))
	return v, err == nil
}

// longest is the largest number of digits that always fits into an int64.
const longest = 18

// whole returns the value of a whole number in plain digits. It returns false for -0.
func whole(text []byte) (cty.Value, bool) {
	digits := text
	if text[0] == '-' {
		digits = text[1:]
	}
	if len(digits) > longest {
		return cty.NilVal, false
	}
	var n int64
	for _, d := range digits {
		if d < '0' || d > '9' {
			return cty.NilVal, false
		}
		n = n*10 + int64(d-'0')
	}
	if len(digits) < len(text) {
		n = -n
		if n == 0 {
			return cty.NilVal, false
		}
	}
	return cty.NumberVal(new(big.Float).SetPrec(512).SetInt64(n)), true
}
