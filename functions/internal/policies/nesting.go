package policies

import "github.com/open-policy-agent/opa/v1/ast"

// Limits of nesting. Neither parsing nor compilation can be stopped: the time of the first grows with
// the square of the nesting, and that of the second with the cube, for comprehensions and their like
// even threefold with each one in another.
const (
	maxBrackets = 100
	maxClosures = 6
	maxNodes    = 500 // of the syntax tree, one in another
)

// bracketed is the line in which too many brackets are open, or 0. Those in texts and comments do not
// count, but for template strings, which can have any expression.
// See https://www.openpolicyagent.org/docs/policy-reference#grammar.
func bracketed(src []byte) int {
	line, open := 1, 0
	for i := 0; i < len(src); i++ {
		switch src[i] {
		case '\n':
			line++
		case '[', '{', '(':
			if open++; open > maxBrackets {
				return line
			}
		case ']', '}', ')':
			open = max(open-1, 0)
		case '#':
			for i+1 < len(src) && src[i+1] != '\n' {
				i++
			}
		case '"', '`':
			if template := i > 0 && src[i-1] == '$'; !template {
				end, lines := textEnd(src, i)
				i, line = end, line+lines
			}
		}
	}
	return 0
}

// textEnd returns where the text ends that begins with the quote at i: at the other quote, or at the
// end of the line or of src if it has none. lines is the number of lines that end in it.
func textEnd(src []byte, i int) (end, lines int) {
	quote := src[i]
	for i++; i < len(src) && src[i] != quote && (quote == '`' || src[i] != '\n'); i++ {
		if src[i] == '\n' {
			lines++
		}
		if quote == '"' && src[i] == '\\' {
			i++
		}
	}
	if i < len(src) && src[i] == '\n' {
		lines++ // of a text without an end
	}
	return i, lines
}

// deepest is the place of a rule that is nested too deeply, or nil.
func deepest(m *ast.Module) *ast.Location {
	for _, r := range m.Rules {
		var d depth
		if d.walk(r); d.over {
			return r.Location
		}
	}
	return nil
}

// A depth is that of a node in a syntax tree.
type depth struct {
	nodes, closures int
	over            bool // it was too much somewhere
}

func (d *depth) walk(x any) { ast.NewBeforeAfterVisitor(d.enter, d.leave).Walk(x) }

// enter reports whether to stay out of a node.
func (d *depth) enter(x any) bool {
	d.nodes++
	d.closures += closure(x)
	d.over = d.over || d.nodes > maxNodes || d.closures > maxClosures
	if template, ok := x.(*ast.TemplateString); ok && !d.over {
		for _, part := range template.Parts { // the visitor passes over them
			d.walk(part)
		}
	}
	return d.over
}

func (d *depth) leave(x any) {
	d.nodes--
	d.closures -= closure(x)
}

// closure is 1 for a syntax that has variables of its own.
func closure(x any) int {
	switch x.(type) {
	case *ast.ArrayComprehension, *ast.SetComprehension, *ast.ObjectComprehension, *ast.TemplateString, *ast.Every, *ast.Not:
		return 1
	}
	return 0
}
