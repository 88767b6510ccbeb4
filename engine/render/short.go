package render

import (
	"strings"
	"unicode"

	"github.com/zclconf/go-cty/cty"

	"github.com/lockstep-iac/lockstep/engine/marks"
)

// maxShort is the maximum length of the text of a value in one line, in bytes.
const maxShort = 60

// ShortSensitive is the result of [Short] for a value with a mark.
const ShortSensitive = "(sensitive value)"

// Short returns a value in a few characters: a text, a number, true or false. It returns "" for values that are
// longer or have parts. A value of which a part is sensitive or ephemeral is [ShortSensitive].
func Short(v cty.Value) string {
	if v == cty.NilVal {
		return ""
	}
	if marks.Any(v) {
		return ShortSensitive
	}
	switch {
	case !v.IsKnown():
		return "(known after apply)"
	case v.IsNull():
		return "(none)"
	case v.Type() == cty.String:
		if s := v.AsString(); len(s) <= maxShort && !strings.ContainsFunc(s, unicode.IsControl) {
			return quotedKey(s)
		}
	case v.Type() == cty.Number:
		if s := digits(v.AsBigFloat()); len(s) <= maxShort {
			return s
		}
	case v.Type() == cty.Bool:
		if v.True() {
			return "true"
		}
		return "false"
	}
	return ""
}
