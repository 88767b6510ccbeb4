package policies

import "github.com/open-policy-agent/opa/v1/ast"

// Limits of nesting. Parsing and compilation cannot be interrupted, so a policy that takes too long must be
// refused before. The parsing time grows with the square of the nesting, and the compilation time with its
// cube. Each level of nested comprehensions and similar syntax triples the compilation time.
const (
	maxBrackets = 100
	maxClosures = 6
	maxNodes    = 500 // of the syntax tree, one in another
)

// bracketed returns the number of the first line in which too many brackets are open; 0 if there is none. It
// ignores brackets in strings and comments, but not in template strings, because these may contain expressions.
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

// textEnd returns the end of the string that begins with the quote at src[i]: its closing quote. If there is
// none, the end is that of the line or of src. lines is the number of line breaks in the string.
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

// deepest returns the place of a rule that is nested too deeply; nil if there is no such rule.
func deepest(m *ast.Module) *ast.Location {
	for _, r := range m.Rules {
		var d depth
		if d.walk(r); d.over {
			return r.Location
		}
	}
	return nil
}

// A depth says how deeply a node of a syntax tree is nested.
type depth struct {
	nodes, closures int
	over            bool // a limit was exceeded
}

func (d *depth) walk(x any) { ast.NewBeforeAfterVisitor(d.enter, d.leave).Walk(x) }

// enter counts the node x, and reports whether the limit of nesting is now exceeded. The nodes in x then need
// not be visited.
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

// closure returns 1 if the node x of the syntax tree has its own variables, and 0 otherwise.
func closure(x any) int {
	switch x.(type) {
	case *ast.ArrayComprehension, *ast.SetComprehension, *ast.ObjectComprehension, *ast.TemplateString, *ast.Every, *ast.Not:
		return 1
	}
	return 0
}
