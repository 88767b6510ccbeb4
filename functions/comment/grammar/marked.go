package grammar

import (
	"slices"
	"strings"

	"github.com/lockstep-iac/lockstep/functions/internal/lazyregexp"
)

// marks are the signs of Markdown around a marked text, and quotation marks. end is the sign that closes begin.
var marks = []struct{ begin, end string }{
	{"`", "`"}, {"***", "***"}, {"**", "**"}, {"*", "*"}, {"__", "__"}, {"_", "_"}, {"~~", "~~"},
	{`"`, `"`}, {"'", "'"}, {"“", "”"}, {"‘", "’"},
}

// itemPattern matches the beginning of a Markdown list item or heading.
var itemPattern = lazyregexp.New(`^([-*+]|[0-9]{1,9}[.)]|#{1,6})[ \t]+`)

// marked returns the commands of a comment that contains nothing but commands, all marked as code, as a list,
// in bold or in quotes. Lockstep does not carry out such commands: they have the problem [Marked]. A person who
// writes about commands adds other words. A person who writes only commands waits for a result, and so needs an
// answer. Quoted and hidden text is ignored.
func marked(body string) (out []Line) {
	for line := range strings.Lines(withoutFence(strings.ReplaceAll(body, "\r", "\n"))) {
		text := strings.TrimSpace(line)
		if text == "" {
			continue
		}
		inner := strings.TrimSpace(unmarked(itemPattern.ReplaceAllString(text, "")))
		l, ok := parseLine(inner)
		if first, _, _ := strings.Cut(inner, " "); !ok || !l.Problem.IsZero() || !strings.EqualFold(strings.TrimLeft(first, "/@"), keyword) {
			return nil
		}
		l = Line{Text: shorten(inner, maxText), Problem: Problem{Kind: Marked}, Suggestion: l.Command.String()}
		if !slices.ContainsFunc(out, func(x Line) bool { return x.Suggestion == l.Suggestion }) {
			out = append(out, l)
		}
		if len(out) > MaxCommands {
			return nil
		}
	}
	return out
}

// withoutFence returns the content of a comment that consists of one code block. It returns any other comment
// unchanged.
func withoutFence(body string) string {
	first, rest, _ := strings.Cut(strings.TrimSpace(body), "\n")
	fence := OpensFence(first)
	if fence == "" {
		return body
	}
	content, last := rest, ""
	if i := strings.LastIndexByte(rest, '\n'); i >= 0 {
		content, last = rest[:i], rest[i+1:]
	}
	if !ClosesFence(last, fence) {
		return body
	}
	return content
}

// unmarked returns text without the marks that surround all of it.
func unmarked(text string) string {
	for _, m := range marks {
		inner, begins := strings.CutPrefix(text, m.begin)
		if inner, ends := strings.CutSuffix(inner, m.end); begins && ends && inner != "" {
			return unmarked(inner)
		}
	}
	return text
}
