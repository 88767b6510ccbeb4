package render

import (
	"strings"
	"unicode/utf8"

	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/lockstep-iac/lockstep/engine/plans"
	"github.com/lockstep-iac/lockstep/engine/render/internal/difference"
)

// # How a difference becomes text
//
// Package difference compares the values before and after a change and returns a tree of nodes. Each value
// has a node with its action. A nodeWriter goes through the tree once and writes HCL-like text:
//
//	  ~ resource "aws_instance" "a" {
//	      ~ size = "small" -> "large"
//	        # (3 unchanged attributes hidden)
//	    }
//
// A level of indentation has four columns: three for the symbol of an action, right-aligned, and a space. So
// a line without a symbol starts in the same column as its neighbours. A node is always written after its
// name ("size = "), and its caller ends the line. Only values with parts write whole lines between their
// brackets.
//
// The text is that of Terraform 1.11, which people and programs know. Tests compare it with recordings
// (package rendertest) and list the few differences.

// A look selects which details of a node are written. It is passed down the tree by value: a node changes its
// copy for its parts.
type look struct {
	bare     bool // action symbols at the left are left out
	noNull   bool // "-> null" after removed values is left out
	all      bool // unchanged parts are written
	noForce  bool // notes about forcing replacement are left out
	allForce bool // the note about forcing replacement is written even if the node does not force it
}

// A nodeWriter writes nodes as text.
type nodeWriter struct {
	p *Printer
	b strings.Builder
	// diff switches to the form that Markdown's diff blocks colour: the symbol of a line's action is in the
	// first column, and an update is "!".
	diff bool
}

// symbol returns the three columns for an action at the left of a line.
func (w *nodeWriter) symbol(a plans.Action) string {
	switch a {
	case plans.Create:
		return "  " + w.p.in(green, "+")
	case plans.Delete:
		return "  " + w.p.in(red, "-")
	case plans.Update:
		return "  " + w.p.in(yellow, "~")
	case plans.DeleteThenCreate:
		return w.p.in(red, "-") + "/" + w.p.in(green, "+")
	case plans.CreateThenDelete:
		return w.p.in(green, "+") + "/" + w.p.in(red, "-")
	case plans.Read:
		return " " + w.p.in(cyan, "<=")
	case plans.Forget:
		return "  " + w.p.in(red, ".")
	}
	return "   "
}

// end starts the last line of n, which has the closing bracket. As in Terraform, the line has no symbol.
// Exception: in a diff block of Markdown, symbols colour the lines. There, the line gets the symbol of n if n
// is created or deleted as a whole.
func (w *nodeWriter) end(n *difference.Node, indent int, l look) {
	if w.diff && (n.Action == plans.Create || n.Action == plans.Delete) {
		w.diffLine(indent, n.Action)
		return
	}
	w.line(indent, plans.NoOp, l)
}

const spaces = "                                                                "

// margin starts a line without a symbol.
func (w *nodeWriter) margin(indent int) {
	n := 4 * indent
	for ; n > len(spaces); n -= len(spaces) {
		w.b.WriteString(spaces)
	}
	w.b.WriteString(spaces[:n])
}

// line starts a line with the symbol of action a.
func (w *nodeWriter) line(indent int, a plans.Action, l look) {
	if w.diff {
		w.diffLine(indent, a)
		return
	}
	w.margin(indent)
	if !l.bare {
		w.b.WriteString(w.symbol(a))
		w.b.WriteByte(' ')
	}
}

// diffSymbols are the characters in the first column of lines in a diff block.
var diffSymbols = map[plans.Action]string{
	plans.Create: "+", plans.Delete: "-", plans.Update: "!", plans.Forget: ".",
	plans.DeleteThenCreate: "-/+", plans.CreateThenDelete: "+/-", plans.Read: "<=",
}

// diffLine starts a line like [nodeWriter.line], but in the form for a diff block of Markdown. Both forms have
// the same width.
func (w *nodeWriter) diffLine(indent int, a plans.Action) {
	symbol := diffSymbols[a]
	w.b.WriteString(symbol)
	for range 4 - len(symbol) {
		w.b.WriteByte(' ')
	}
	w.margin(indent)
}

// forces writes a note if the change of n forces a replacement, because the object cannot be updated.
func (w *nodeWriter) forces(n *difference.Node, l look) {
	if (n.Replace || l.allForce) && !l.noForce {
		w.b.WriteString(w.p.in(red, " # forces replacement"))
	}
}

// toNull writes "-> null" if n is removed. For a removed value with parts this is written only once, at the
// value's end.
func (w *nodeWriter) toNull(n *difference.Node, l look) {
	if n.Action == plans.Delete && !l.noNull {
		w.b.WriteString(w.p.in(gray, " -> null"))
	}
}

// unchanged writes the number of parts that are not shown. part is the word for one of them, such as
// "attribute".
func (w *nodeWriter) unchanged(count int, part string, indent int, l look) {
	if count == 0 {
		return
	}
	w.line(indent, plans.NoOp, l)
	w.b.WriteString(w.p.in(gray, hiddenText(count, part)))
	w.b.WriteByte('\n')
}

// node writes n after its name. indent is the indentation level of the current line.
func (w *nodeWriter) node(n *difference.Node, indent int, l look) {
	if w.p.ShowSensitive && (n.Kind == difference.Sensitive || n.Kind == difference.SensitiveBlock) && n.Inner != nil {
		n = n.Inner
	}
	switch n.Kind {
	case difference.Leaf:
		w.leaf(n, indent, l)
	case difference.Object:
		w.object(n, indent, l)
	case difference.Map:
		w.mapping(n, indent, l)
	case difference.List:
		w.list(n, indent, l)
	case difference.Set:
		w.set(n, indent, l)
	case difference.Block:
		w.block(n, indent, l)
	case difference.Sensitive:
		w.b.WriteString(sensitiveText)
		w.toNull(n, l)
		w.forces(n, l)
	case difference.SensitiveBlock:
		w.sensitiveBlock(n, indent, l)
	case difference.WriteOnly:
		w.b.WriteString("(write-only attribute)")
		w.toNull(n, l)
		w.forces(n, l)
	case difference.Unknown:
		w.unknown(n, indent, l)
	case difference.Type:
		quiet := l
		quiet.noNull = true
		w.node(n.Inner, indent, quiet)
		w.arrow()
		w.node(n.Other, indent, quiet)
		w.forces(n, l)
	}
}

func (w *nodeWriter) arrow() { w.b.WriteString(" " + w.p.in(yellow, "->") + " ") }

func (w *nodeWriter) unknown(n *difference.Node, indent int, l look) {
	if n.Inner != nil {
		quiet := l
		quiet.noNull = true
		w.node(n.Inner, indent, quiet)
		w.arrow()
	}
	w.b.WriteString(unknownText)
	w.forces(n, l)
}

// notes writes a warning above the line of n if the value becomes sensitive, or stops being sensitive.
// Nothing else in the text would show that: both values are written as "(sensitive value)".
func (w *nodeWriter) notes(n *difference.Node, indent int, l look) {
	if n.Kind != difference.Sensitive && n.Kind != difference.SensitiveBlock || n.WasSensitive == n.IsSensitive ||
		n.Action == plans.Create || n.Action == plans.Delete {
		return
	}
	what := "attribute value"
	if n.Kind == difference.SensitiveBlock {
		what = "block"
	}
	first, second := "this "+what+" will no longer be marked as sensitive", "after applying this change."
	if n.IsSensitive {
		first, second = "this "+what+" will be marked as sensitive and will not", "display in UI output after applying this change."
	}
	if n.Inner != nil && n.Inner.Action == plans.NoOp {
		second += " The value is unchanged."
	}
	w.margin(indent)
	w.b.WriteString("  " + w.p.in(yellow, "# Warning") + ": " + first + "\n")
	w.margin(indent)
	w.b.WriteString("  # " + second + "\n")
}

// attributeName returns a name as a configuration has it, quoted if needed.
func attributeName(name string) string {
	if isPlainName(name) || hclsyntax.ValidIdentifier(name) {
		return name
	}
	return quotedKey(name)
}

// isPlainName reports whether a name is an ordinary identifier, as nearly all are.
func isPlainName(name string) bool {
	for i := range len(name) {
		switch c := name[i]; {
		case 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z':
		case i > 0 && (c == '_' || c == '-' || '0' <= c && c <= '9'):
		default:
			return false
		}
	}
	return name != ""
}

// widest returns the number of columns of the widest name in its printed form.
func widest(names []string, form func(string) string) int {
	n := 0
	for _, name := range names {
		n = max(n, utf8.RuneCountInString(form(name)))
	}
	return n
}

// name writes `name = `, with the name padded to the given width.
func (w *nodeWriter) name(name string, width int) {
	w.b.WriteString(name)
	for n := utf8.RuneCountInString(name); n < width; n++ {
		w.b.WriteByte(' ')
	}
	w.b.WriteString(" = ")
}
