package parsing

import (
	"encoding/json"
	"unicode/utf8"

	"github.com/apparentlymart/go-textseg/v15/textseg"
	"github.com/hashicorp/hcl/v2"
)

// depthJSON returns an error at the place where the arrays and objects of a JSON text are nested too deep. It
// also returns an error at a string that is a template and nested too deep. Otherwise it returns nil. As in
// HCL's scanner, a string ends at a quote without a backslash, or before a control character.
func depthJSON(src []byte, name string, limit int) *hcl.Diagnostic {
	var open []byte
	for i := 0; i < len(src); {
		switch b := src[i]; b {
		case '{', '[':
			if open = append(open, b+2); len(open) > limit { // in ASCII, the closing bracket
				return tooDeep(place(src, name, i, i+1), limit)
			}
		case '}', ']':
			if n := len(open); n > 0 && open[n-1] == b {
				open = open[:n-1]
			}
		case '"':
			end := stringEnd(src, i)
			if d := depthOfString(src[i:end], limit); d != nil {
				d.Subject = place(src, name, i, end).Ptr()
				return d
			}
			i = end
			continue
		}
		i++
	}
	return nil
}

// stringEnd returns the end of the string that begins at i. HCL's scanner treats a grapheme cluster as one
// character, even if a quote belongs to it.
func stringEnd(src []byte, i int) int {
	for i++; i < len(src); {
		switch b := src[i]; {
		case b == '\\' && i+1 < len(src) && (src[i+1] == '\\' || src[i+1] == '"'):
			i += 2
		case b == '"':
			return i + 1
		case b < ' ':
			return i
		case b < utf8.RuneSelf:
			i++
		default:
			n, _, _ := textseg.ScanGraphemeClusters(src[i:], true)
			i += max(n, 1)
		}
	}
	return len(src)
}

// depthOfString checks the depth of a JSON string as a template.
func depthOfString(quoted []byte, limit int) *hcl.Diagnostic {
	if len(quoted) <= limit { // a level has a byte at least
		return nil
	}
	var text string
	if json.Unmarshal(quoted, &text) != nil {
		return nil // not a string, so nobody parses it
	}
	return depthOf([]byte(text), "", hcl.InitialPos, templateText, limit)
}

// place returns the range of the bytes from start to end.
func place(src []byte, name string, start, end int) hcl.Range {
	from := hcl.InitialPos
	from.Byte = start
	for _, b := range src[:start] {
		switch {
		case b == '\n':
			from.Line, from.Column = from.Line+1, 1
		case utf8.RuneStart(b):
			from.Column++
		}
	}
	to := from
	to.Byte = end
	to.Column += utf8.RuneCount(src[start:end])
	return hcl.Range{Filename: name, Start: from, End: to}
}
