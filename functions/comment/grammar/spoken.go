package grammar

import (
	"iter"
	"strings"
)

// spoken returns the lines of a comment that a reader sees as text. It leaves out code blocks, indented code,
// HTML comments, and elements that show code or nothing, such as <pre>. It includes quoted lines, which are no
// commands because they begin with ">".
// Source: https://spec.commonmark.org/0.31.2/#fenced-code-blocks
func spoken(body string) iter.Seq[string] {
	return func(yield func(string) bool) {
		fence := ""  // the fence that is open
		hidden := "" // the end of the HTML comment, or of the element, that is open
		for line := range strings.Lines(strings.ReplaceAll(body, "\r", "\n")) {
			line = strings.TrimRight(line, "\n")
			text := strings.TrimLeft(line, " ")
			indented := len(line)-len(text) > 3 || strings.HasPrefix(text, "\t")
			switch {
			case fence != "":
				if !indented && ClosesFence(text, fence) {
					fence = ""
				}
				continue
			case hidden != "":
				hidden = hides(text, hidden)
				continue
			case indented:
				continue
			}
			if fence = OpensFence(text); fence != "" {
				continue
			}
			hidden = hides(text, "")
			if text = strings.TrimSpace(text); text != "" && !yield(text) {
				return
			}
		}
	}
}

// unspoken lists HTML comments and elements whose content a reader does not see as text. Each has its beginning
// and its end.
var unspoken = []struct{ begin, end string }{
	{"<!--", "-->"},
	{"<pre", "</pre"}, {"<code", "</code"}, {"<script", "</script"}, {"<style", "</style"}, {"<textarea", "</textarea"},
}

// hides returns the text that will close an HTML comment or element, such as "-->", if one is still open at the
// end of a line. It returns "" if none is open. before is the result of hides for the previous line. Inside a
// code span, or after a backslash, no comment or element begins.
func hides(line, before string) string {
	for line = strings.ToLower(line); line != ""; {
		switch n := strings.IndexFunc(line, func(r rune) bool { return r != '`' }); {
		case before != "":
			i := strings.Index(line, before)
			if i < 0 {
				return before
			}
			before, line = "", line[i+len(before):]
		case line[0] == '\\':
			line = line[min(2, len(line)):]
		case n > 0:
			run := line[:n]
			line = line[n:]
			if _, rest, ok := strings.Cut(line, run); ok && !strings.HasPrefix(rest, "`") {
				line = rest
			}
		default:
			for _, u := range unspoken {
				if rest, ok := strings.CutPrefix(line, u.begin); ok && (u.end == "-->" || rest == "" || strings.ContainsAny(rest[:1], " \t>")) {
					before = u.end
				}
			}
			line = line[1:]
		}
	}
	return before
}

// OpensFence returns the fence, such as "```", of a line that begins a Markdown code block; "" for other lines.
func OpensFence(text string) string {
	for _, c := range []string{"`", "~"} {
		n := len(text) - len(strings.TrimLeft(text, c))
		if n >= 3 && !(c == "`" && strings.Contains(text[n:], "`")) {
			return text[:n]
		}
	}
	return ""
}

// ClosesFence reports whether a line ends the Markdown code block that the line fence has begun.
func ClosesFence(text, fence string) bool {
	rest := strings.TrimLeft(text, fence[:1])
	return len(text)-len(rest) >= len(fence) && strings.TrimSpace(rest) == ""
}
