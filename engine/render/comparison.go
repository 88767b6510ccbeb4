package render

import (
	"fmt"
	"io"
	"strings"

	"github.com/zclconf/go-cty/cty"

	"github.com/lockstep-iac/lockstep/engine/plans/comparing"
)

// Comparison writes the differences of two plans, object by object. Lines with "-" are from the approved
// plan, lines with "+" from the new one. For a sensitive value it writes only that the value is sensitive.
func (p *Printer) Comparison(w io.Writer, ds []comparing.Difference) {
	for _, text := range comparedObjects(ds) {
		fmt.Fprintf(w, "\n%s", text)
	}
}

// ComparisonMarkdown returns the text of [Printer.Comparison] for a comment on GitHub; "" if there are no
// differences. As in [PlanMarkdown], all text that Lockstep has not written is in a code fence that it cannot
// end.
func ComparisonMarkdown(ds []comparing.Difference) string {
	s := section{title: "Differences from the approved plan"}
	for _, text := range comparedObjects(ds) {
		s.texts = append(s.texts, strings.TrimSuffix(text, "\n"))
	}
	return s.markdown()
}

// comparedObjects returns a text for each object, with all differences of the object.
func comparedObjects(ds []comparing.Difference) []string {
	var out []string
	for i, d := range ds {
		text := comparedText(d)
		if i > 0 && ds[i-1].Object == d.Object {
			out[len(out)-1] += text
			continue
		}
		out = append(out, "# "+visible(d.Object)+"\n"+text)
	}
	return out
}

// comparedText returns a difference as lines of a diff.
func comparedText(d comparing.Difference) string {
	was, is := comparedValue(d, d.Approved), comparedValue(d, d.Now)
	if d.Sensitive && was == is {
		is += ", another one"
	}
	var b strings.Builder
	side := func(sign, value string) {
		if value == "" {
			return
		}
		for line := range strings.SplitSeq(comparedName(d)+value, "\n") {
			b.WriteString(sign + " " + line + "\n")
		}
	}
	side("-", was)
	side("+", is)
	return b.String()
}

// comparedValue returns one side of a difference as text; "" if the side has no value.
func comparedValue(d comparing.Difference, v cty.Value) string {
	switch {
	case v == cty.NilVal:
		return ""
	case d.Sensitive:
		return sensitiveText
	case !v.IsWhollyKnown() || !textual(d.Aspect):
		return (&Printer{}).Value(v)
	}
	return visible(v.AsString())
}

// textual reports whether the facts of an aspect are texts, not values.
func textual(a comparing.Aspect) bool {
	switch a {
	case comparing.Before, comparing.After, comparing.Variable:
		return false
	}
	return true
}

// comparedName returns the beginning of the line for a difference, such as `tags["team"] = ` for an attribute,
// or "moved from: ".
func comparedName(d comparing.Difference) string {
	path := visible(pathText(d.Path))
	switch d.Aspect {
	case comparing.Before:
		return strings.TrimPrefix(path+" before", " ") + ": "
	case comparing.After, comparing.Variable:
		if path == "" {
			return "value = "
		}
		return path + " = "
	case comparing.Moved:
		return "moved from: "
	case comparing.Import:
		return "import of: "
	}
	return string(d.Aspect) + ": "
}

// pathText returns a path as an expression has it: tags["team"].
func pathText(path cty.Path) string {
	var b strings.Builder
	for i, step := range path {
		switch step := step.(type) {
		case cty.GetAttrStep:
			if i > 0 {
				b.WriteString(".")
			}
			b.WriteString(attributeName(step.Name))
		case cty.IndexStep:
			b.WriteString("[" + (&Printer{}).Value(step.Key) + "]")
		}
	}
	return b.String()
}
