package render

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/zclconf/go-cty/cty"

	"github.com/lockstep-iac/lockstep/engine/marks"
	"github.com/lockstep-iac/lockstep/engine/states"
)

const (
	sensitiveText = "(sensitive value)"
	unknownText   = "(known after apply)"
)

// Value returns v as the console and `output` print it: as an expression with this value, if possible. For
// sensitive and ephemeral values it returns only that they are hidden.
func (p *Printer) Value(v cty.Value) string {
	var b strings.Builder
	if p.ShowSensitive {
		_, ephemeral := marks.Paths(v, marks.Ephemeral)
		v, _ = marks.Paths(v, marks.Sensitive)
		v = marks.At(v, marks.Ephemeral, ephemeral)
	}
	writeValue(&b, v, 0)
	return b.String()
}

// Outputs writes the root outputs of s, sorted by name. For sensitive outputs it writes only the name.
func (p *Printer) Outputs(w io.Writer, s *states.State) {
	outputs := maps.Collect(s.Outputs())
	for _, name := range slices.Sorted(maps.Keys(outputs)) {
		text := "<sensitive>"
		if o := outputs[name]; !o.Sensitive || p.ShowSensitive {
			text = p.Value(o.Value)
		}
		fmt.Fprintf(w, "%s = %s\n", name, text)
	}
}

func writeValue(b *strings.Builder, v cty.Value, indent int) {
	ty := v.Type()
	switch {
	case v.HasMark(marks.Sensitive):
		b.WriteString(sensitiveText)
		return
	case v.HasMark(marks.Ephemeral):
		b.WriteString("(ephemeral value)")
		return
	}
	v, _ = v.Unmark()
	switch {
	case !v.IsKnown():
		b.WriteString(unknownText)
	case v.IsNull():
		b.WriteString(nullText(ty))
	case ty == cty.String:
		writeText(b, v.AsString(), indent)
	case ty == cty.Number:
		b.WriteString(digits(v.AsBigFloat()))
	case ty == cty.Bool:
		b.WriteString(strconv.FormatBool(v.True()))
	case ty.IsTupleType():
		writeSequence(b, v, indent)
	case ty.IsObjectType():
		writeMapping(b, v, indent)
	case ty.IsListType():
		writeCall(b, "tolist", v, indent, writeSequence)
	case ty.IsSetType():
		writeCall(b, "toset", v, indent, writeSequence)
	case ty.IsMapType():
		writeCall(b, "tomap", v, indent, writeMapping)
	default:
		b.WriteString(ty.FriendlyName())
	}
}

// nullText returns the text for a null of a type.
func nullText(ty cty.Type) string {
	switch {
	case ty == cty.DynamicPseudoType:
		return "null"
	case ty == cty.String:
		return "tostring(null)"
	case ty == cty.Number:
		return "tonumber(null)"
	case ty == cty.Bool:
		return "tobool(null)"
	case ty.IsListType():
		return fmt.Sprintf("tolist(null) /* of %s */", ty.ElementType().FriendlyName())
	case ty.IsSetType():
		return fmt.Sprintf("toset(null) /* of %s */", ty.ElementType().FriendlyName())
	case ty.IsMapType():
		return fmt.Sprintf("tomap(null) /* of %s */", ty.ElementType().FriendlyName())
	}
	return fmt.Sprintf("null /* %s */", ty.FriendlyName())
}

func writeCall(b *strings.Builder, name string, v cty.Value, indent int, write func(*strings.Builder, cty.Value, int)) {
	b.WriteString(name)
	b.WriteByte('(')
	write(b, v, indent)
	b.WriteByte(')')
}

func writeSequence(b *strings.Builder, v cty.Value, indent int) {
	b.WriteByte('[')
	some := false
	for it := v.ElementIterator(); it.Next(); some = true {
		newLine(b, indent+2)
		_, e := it.Element()
		writeValue(b, e, indent+2)
		b.WriteByte(',')
	}
	if some {
		newLine(b, indent)
	}
	b.WriteByte(']')
}

func writeMapping(b *strings.Builder, v cty.Value, indent int) {
	b.WriteByte('{')
	some := false
	for it := v.ElementIterator(); it.Next(); some = true {
		newLine(b, indent+2)
		k, e := it.Element()
		b.WriteString(quoted(k.AsString()))
		b.WriteString(" = ")
		writeValue(b, e, indent+2)
	}
	if some {
		newLine(b, indent)
	}
	b.WriteByte('}')
}

func newLine(b *strings.Builder, indent int) {
	b.WriteByte('\n')
	for range indent {
		b.WriteByte(' ')
	}
}

// writeText writes a string. If the string has several lines, it writes a heredoc whose delimiter is none of
// the lines; otherwise a quoted string.
func writeText(b *strings.Builder, s string, indent int) {
	lines := strings.Split(s, "\n")
	if len(lines) < 2 {
		b.WriteString(quoted(s))
		return
	}
	delimiter := heredocDelimiter(lines)
	b.WriteString("<<")
	if indent > 0 {
		b.WriteByte('-')
	}
	b.WriteString(delimiter)
	for _, l := range lines {
		newLine(b, indent)
		b.WriteString(visible(l))
	}
	newLine(b, indent)
	b.WriteString(delimiter)
}

// heredocDelimiter returns EOT, or a longer word if a line is just EOT.
func heredocDelimiter(lines []string) string {
	delimiter := "EOT"
	for slices.ContainsFunc(lines, func(l string) bool { return strings.TrimSpace(l) == delimiter }) {
		delimiter += "_"
	}
	return delimiter
}

// quoted returns s between quotes, with escapes for unprintable characters.
func quoted(s string) string { return strconv.Quote(s) }
