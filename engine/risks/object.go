package risks

import (
	"fmt"
	"math/big"
	"slices"
	"strings"
	"unicode"

	"github.com/zclconf/go-cty/cty"
)

// An object has some attributes of one side of a change. No value has marks.
type object map[string]cty.Value

// objectOf returns the attributes of a block's value; nil and false if it is unknown.
func objectOf(v cty.Value) (object, bool) {
	if !v.IsKnown() {
		return nil, false
	}
	if v.IsNull() || !v.Type().IsObjectType() && !v.Type().IsMapType() {
		return object{}, true
	}
	return v.AsValueMap(), true
}

// exists reports whether the object is there on this side of the change.
func (o object) exists() bool {
	for _, v := range o {
		if !v.IsNull() {
			return true
		}
	}
	return false
}

// text returns a text; "" for null. known is false if the plan does not show it.
func (o object) text(name string) (s string, known bool) {
	if v, ok := o[name]; ok {
		return textOf(v)
	}
	return "", true
}

func textOf(v cty.Value) (s string, known bool) {
	switch {
	case !v.IsKnown():
		return "", false
	case v.IsNull():
		return "", true
	case v.Type() == cty.String:
		return v.AsString(), true
	case v.Type() == cty.Number:
		f := v.AsBigFloat()
		if e := f.MantExp(nil); e > maxExponent || e < -maxExponent {
			return "", false
		}
		return f.Text('f', -1), true
	}
	return "", true
}

// maxExponent limits the numbers that are written as texts. The text of 1e9000000 takes 17 seconds, and no rule or
// policy has such a number.
const maxExponent = 1024

// whole returns the number of a port from the attribute with a name. A number above maxPort becomes maxPort, and a
// negative one -1. If the attribute is missing, null or no number, whole returns none. known is false if the value is
// not known yet.
func (o object) whole(name string, none int) (n int, known bool) {
	v, ok := o[name]
	switch {
	case !ok:
		return none, true
	case !v.IsKnown():
		return 0, false
	case v.IsNull() || v.Type() != cty.Number:
		return none, true
	}
	f := v.AsBigFloat()
	if f.Cmp(big.NewFloat(maxPort)) > 0 {
		return maxPort, true
	}
	if f.Sign() < 0 {
		return -1, true
	}
	i, _ := f.Int64()
	return int(i), true
}

// flag returns a boolean; false for null.
func (o object) flag(name string) (set, known bool) {
	v, ok := o[name]
	switch {
	case !ok:
		return false, true
	case !v.IsKnown():
		return false, false
	}
	return !v.IsNull() && v.Type() == cty.Bool && v.True(), true
}

// all returns the elements of a collection. known is false if their number is not known.
func (o object) all(name string) (out []cty.Value, known bool) {
	v, ok := o[name]
	switch {
	case !ok:
		return nil, true
	case !v.IsKnown():
		return nil, false
	case v.IsNull() || !v.CanIterateElements() || v.Type().IsObjectType() || v.Type().IsMapType():
		return nil, true
	}
	return v.AsValueSlice(), true
}

// blocks returns the blocks of a type. known is false if some are not known.
func (o object) blocks(name string) (out []object, known bool) {
	list, known := o.all(name)
	for _, v := range list {
		x, ok := objectOf(v)
		if known = known && ok; ok {
			out = append(out, x)
		}
	}
	return out, known
}

// texts returns the elements of a list of texts. known is false if some are not known.
func (o object) texts(name string) (out []string, known bool) {
	list, known := o.all(name)
	for _, v := range list {
		s, ok := textOf(v)
		if known = known && ok; ok && s != "" {
			out = append(out, s)
		}
	}
	return out, known
}

// among reports whether the text of an attribute is one of a set.
func (o object) among(name string, set map[string]bool) bool {
	s, known := o.text(name)
	return known && set[s]
}

// A finding is what a check has found: phrases without and with certainty. A phrase begins with a verb in its
// plain form, such as "open".
type finding struct{ certain, may []string }

// add adds a phrase, once.
func (f *finding) add(may bool, format string, args ...any) {
	to := &f.certain
	if may {
		to = &f.may
	}
	if phrase := fmt.Sprintf(format, args...); !slices.Contains(*to, phrase) && len(*to) <= maxPhrases {
		*to = append(*to, phrase)
	}
}

// maxPhrases is the maximum number of phrases in the text of one risk.
const maxPhrases = 5

// text joins the phrases of one certainty; "" if there are none.
func (f finding) text(may bool) string {
	list := f.certain
	if may {
		list = f.may
	}
	var out []string
	for i, phrase := range list {
		if i == maxPhrases {
			out = append(out, "does more of this kind")
			break
		}
		if verb, rest, _ := strings.Cut(phrase, " "); may {
			phrase = "may " + phrase
		} else {
			phrase = verb + "s " + rest
		}
		out = append(out, phrase)
	}
	return strings.Join(out, ", ")
}

// maxQuoted is the maximum length of a quoted value, in characters.
const maxQuoted = 120

// quote returns a value of the configuration for the text of a risk: short, in one line, between backquotes.
func quote(s string) string {
	var b strings.Builder
	n := 0
	for _, r := range s {
		if n++; n > maxQuoted {
			b.WriteRune('…')
			break
		}
		if r == '`' || unicode.IsControl(r) || !unicode.IsPrint(r) {
			r = '?'
		}
		b.WriteRune(r)
	}
	return "`" + b.String() + "`"
}
