package schema

import (
	"strconv"
	"strings"

	"github.com/zclconf/go-cty/cty"
)

// FormatPath returns p as messages show it: `.name[0].tags["a"]`. A set element is shown as `[...]`, because
// its key is the whole element.
func FormatPath(p cty.Path) string {
	var b strings.Builder
	for _, s := range p {
		switch s := s.(type) {
		case cty.GetAttrStep:
			b.WriteByte('.')
			b.WriteString(s.Name)
		case cty.IndexStep:
			b.WriteByte('[')
			b.WriteString(formatKey(s.Key))
			b.WriteByte(']')
		}
	}
	return b.String()
}

func formatKey(k cty.Value) string {
	k, _ = k.Unmark()
	switch {
	case k.IsNull():
		return "null"
	case !k.IsKnown():
		return "(not yet known)"
	case k.Type() == cty.Number:
		return k.AsBigFloat().Text('g', -1)
	case k.Type() == cty.String:
		return strconv.Quote(k.AsString())
	}
	return "..."
}

// FormatError returns err's text. If err is a [cty.PathError] with a path, the path comes first: `.name: was
// ...`.
func FormatError(err error) string {
	if pe, ok := err.(cty.PathError); ok && len(pe.Path) > 0 {
		return FormatPath(pe.Path) + ": " + pe.Error()
	}
	return err.Error()
}
