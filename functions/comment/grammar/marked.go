package grammar

import (
	"regexp"
	"slices"
	"strings"
)

// marks are those around a text by which Markdown sets it apart, and quotes, each with the one that ends it.
var marks = []struct{ begin, end string }{
	{"`", "`"}, {"***", "***"}, {"**", "**"}, {"*", "*"}, {"__", "__"}, {"_", "_"}, {"~~", "~~"},
	{`"`, `"`}, {"'", "'"}, {"“", "”"}, {"‘", "’"},
}

// itemPattern matches what begins an item of a list, or a heading.
var itemPattern = regexp.MustCompile(`^([-*+]|[0-9]{1,9}[.)]|#{1,6})[ \t]+`)

// marked returns the commands of a comment that has nothing but them, set apart as code, as a list, in bold or in quotes.
// Each is no command that way, and has [Marked] as its problem: whoever talks of commands has other words beside them, and
// who has none may wait for an outcome. Text quoted of others, or hidden, is not looked at.
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

// withoutFence returns the content of a comment that is one code block, and others as they are.
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

// unmarked returns a text without the marks around all of it.
func unmarked(text string) string {
	for _, m := range marks {
		inner, begins := strings.CutPrefix(text, m.begin)
		if inner, ends := strings.CutSuffix(inner, m.end); begins && ends && inner != "" {
			return unmarked(inner)
		}
	}
	return text
}
