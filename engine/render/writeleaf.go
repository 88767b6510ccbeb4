package render

import (
	"fmt"
	"math/big"
	"strconv"
	"strings"

	"github.com/zclconf/go-cty/cty"
	ctyjson "github.com/zclconf/go-cty/cty/json"

	"github.com/lockstep-iac/lockstep/engine/plans"
	"github.com/lockstep-iac/lockstep/engine/render/internal/difference"
)

// hiddenText returns the comment that replaces unchanged parts. part is the word for one of them, such as
// "attribute".
func hiddenText(count int, part string) string {
	if count == 1 {
		return "# (1 unchanged " + part + " hidden)"
	}
	return fmt.Sprintf("# (%d unchanged %ss hidden)", count, part)
}

// quotedKey returns a map key as HCL quotes it.
func quotedKey(s string) string { return `"` + escapeQuoted(s) + `"` }

// escapeQuoted escapes the characters that would end a quoted template or start an interpolation.
func escapeQuoted(s string) string {
	q := strconv.Quote(s)
	q = q[1 : len(q)-1]
	q = strings.ReplaceAll(q, "${", "$${")
	return strings.ReplaceAll(q, "%{", "%%{")
}

// leaf writes a value without parts; if it changes, the values before and after with an arrow between them.
func (w *nodeWriter) leaf(n *difference.Node, indent int, l look) {
	b, a := newText(n.Before), newText(n.After)
	if b.isString || a.isString {
		w.text(n, b, a, indent, l)
		return
	}
	switch n.Action {
	case plans.Create, plans.NoOp:
		w.b.WriteString(a.simple(w.p))
	case plans.Delete:
		w.b.WriteString(b.simple(w.p))
		w.toNull(n, l)
	default:
		w.b.WriteString(b.simple(w.p))
		w.arrow()
		w.b.WriteString(a.simple(w.p))
	}
	w.forces(n, l)
}

// A text is the value of a leaf: null, a string, or another primitive. A string is JSON, has several lines,
// or is plain.
type text struct {
	isNull, isString bool
	s                string
	json             cty.Value // the decoded JSON; cty.NilVal if the string is not JSON
}

func newText(v cty.Value) text {
	if v == difference.Nothing || v.IsNull() || !v.IsKnown() {
		return text{isNull: true}
	}
	switch v.Type() {
	case cty.String:
		s := v.AsString()
		return text{isString: true, s: s, json: parseJSON(s)}
	case cty.Number:
		return text{s: digits(v.AsBigFloat())}
	case cty.Bool:
		return text{s: strconv.FormatBool(v.True())}
	}
	return text{s: v.Type().FriendlyName()}
}

// digits returns a number with all its digits. Formatting a fraction of 512 bits is slow, so integers, which
// most numbers are, are formatted separately.
func digits(f *big.Float) string {
	if n, acc := f.Int64(); acc == big.Exact && !f.Signbit() {
		return strconv.FormatInt(n, 10)
	}
	return f.Text('f', -1)
}

// parseJSON returns the value of a string that is a JSON object or array; otherwise cty.NilVal.
func parseJSON(s string) cty.Value {
	if !difference.IsJSON(s) {
		return cty.NilVal
	}
	ty, err := ctyjson.ImpliedType([]byte(s))
	if err != nil {
		return cty.NilVal
	}
	v, err := ctyjson.Unmarshal([]byte(s), ty)
	if err != nil {
		return cty.NilVal
	}
	return v
}

func (t text) isJSON() bool { return t.json != cty.NilVal }

// lines returns the lines of a string with several lines.
func (t text) lines() []string { return strings.Split(visible(strings.TrimSpace(t.s)), "\n") }

func (t text) multiline() bool { return t.isString && !t.isJSON() && strings.Contains(t.s, "\n") }

// simple writes a value on one line.
func (t text) simple(p *Printer) string {
	switch {
	case t.isNull:
		return p.in(gray, "null")
	case t.isString:
		return strconv.Quote(t.s)
	}
	return t.s
}

// text writes a node whose value before or after is a string. JSON is written as jsonencode(...) with the
// difference of the two documents inside. A string with several lines is written as a heredoc with the
// difference of its lines. Both sides can be merged only if they have the same form; otherwise they are
// written one after the other.
func (w *nodeWriter) text(n *difference.Node, b, a text, indent int, l look) {
	switch n.Action {
	case plans.Create, plans.NoOp:
		w.one(n, a, indent, l)
		return
	case plans.Delete:
		w.one(n, b, indent, l)
		return
	}
	switch {
	case b.isJSON() && a.isJSON():
		w.encoded(n, b.json, a.json, indent, l)
	case b.isJSON() || a.isJSON():
		quiet := l
		quiet.noNull = true
		w.one(&difference.Node{Action: plans.Delete}, b, indent, quiet)
		w.arrow()
		w.one(&difference.Node{Action: plans.Create}, a, indent, quiet)
		w.forces(n, l)
	case b.multiline() || a.multiline():
		w.heredoc(n, diffLines(b, a), indent, l)
	default:
		w.b.WriteString(b.simple(w.p))
		w.arrow()
		w.b.WriteString(a.simple(w.p))
		w.forces(n, l)
	}
}

// one writes a string with one value: it is created, deleted or unchanged. (A changed string has two values.)
func (w *nodeWriter) one(n *difference.Node, t text, indent int, l look) {
	switch {
	case t.isJSON() && n.Action == plans.Delete:
		w.encoded(n, t.json, difference.Nothing, indent, l)
	case t.isJSON() && n.Action == plans.Create:
		w.encoded(n, difference.Nothing, t.json, indent, l)
	case t.isJSON():
		w.encoded(n, t.json, t.json, indent, l)
	case t.multiline():
		var lines []textLine
		for _, s := range t.lines() {
			lines = append(lines, textLine{plans.NoOp, s})
		}
		w.heredoc(n, lines, indent, l)
	default:
		w.b.WriteString(t.simple(w.p))
		if !t.isNull {
			w.toNull(n, l)
		}
		w.forces(n, l)
	}
}

// A textLine is a line of a text, and whether it is created, deleted or unchanged.
type textLine struct {
	action plans.Action
	s      string
}

func diffLines(b, a text) []textLine {
	before, after := b.lines(), a.lines()
	if b.isNull {
		before = nil
	}
	if a.isNull {
		after = nil
	}
	var out []textLine
	for _, at := range difference.Lines(before, after) {
		switch {
		case at[0] < 0:
			out = append(out, textLine{plans.Create, after[at[1]]})
		case at[1] < 0:
			out = append(out, textLine{plans.Delete, before[at[0]]})
		default:
			out = append(out, textLine{plans.NoOp, before[at[0]]})
		}
	}
	return out
}

// heredoc writes lines between the delimiters of a heredoc, each with the symbol of its action.
func (w *nodeWriter) heredoc(n *difference.Node, lines []textLine, indent int, l look) {
	raw := make([]string, len(lines))
	for i, t := range lines {
		raw[i] = t.s
	}
	delimiter := heredocDelimiter(raw)
	w.b.WriteString("<<-" + delimiter)
	w.forces(n, l)
	w.b.WriteByte('\n')
	for _, t := range lines {
		if w.diff && t.action == plans.NoOp && n.Action != plans.Update {
			t.action = n.Action
		}
		w.line(indent+1, t.action, l)
		w.b.WriteString(t.s)
		w.b.WriteByte('\n')
	}
	w.end(n, indent, l)
	w.b.WriteString(delimiter)
	w.toNull(n, l)
}

// encoded writes a JSON string as the expression that could have made it. Two different strings may be equal
// documents, with other white space or another order of members. Then the whole document is written with a
// note, since no part of it changes.
func (w *nodeWriter) encoded(n *difference.Node, before, after cty.Value, indent int, l look) {
	inner := difference.Of(before, after)
	note := ""
	action := n.Action
	if inner.Action == plans.NoOp && n.Action == plans.Update {
		action = plans.NoOp
		note = w.p.in(gray, " # whitespace changes")
		if n.Replace {
			note = w.p.in(red, " # whitespace changes force replacement")
		}
	}
	in := l
	in.noNull, in.allForce = true, false
	in.all = l.all || note != ""
	sub := nodeWriter{p: w.p, diff: w.diff}
	sub.node(inner, indent+1, in)
	content := sub.b.String()
	if !strings.Contains(content, "\n") {
		w.b.WriteString("jsonencode(" + content + ")" + note)
		w.toNull(n, l)
		if note == "" {
			w.forces(n, l)
		}
		return
	}
	w.b.WriteString("jsonencode(" + note)
	if note == "" {
		w.forces(n, l)
	}
	w.b.WriteByte('\n')
	if action == plans.Update {
		w.line(indent+1, action, l)
	} else {
		w.end(n, indent+1, l)
	}
	w.b.WriteString(content)
	w.b.WriteByte('\n')
	w.end(n, indent, l)
	w.b.WriteByte(')')
	w.toNull(n, l)
}
