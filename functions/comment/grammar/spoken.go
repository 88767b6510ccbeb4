package grammar

import (
	"iter"
	"strings"
)

// spoken iterates over the lines of a comment that a reader sees as text: without code blocks,
// indented code, and HTML comments. Quoted lines begin with ">" and so cannot be commands.
// Source: https://spec.commonmark.org/0.31.2/#fenced-code-blocks
func spoken(body string) iter.Seq[string] {
	return func(yield func(string) bool) {
		fence := ""     // the fence that is open
		hidden := false // in an HTML comment
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
			case hidden:
				hidden = !strings.Contains(text, "-->")
				continue
			case indented:
				continue
			}
			if fence = OpensFence(text); fence != "" {
				continue
			}
			if i := strings.LastIndex(text, "<!--"); i >= 0 {
				hidden = !strings.Contains(text[i:], "-->")
			}
			if text = strings.TrimSpace(text); text != "" && !yield(text) {
				return
			}
		}
	}
}

// OpensFence returns the fence of a line that begins a code block, "" for other lines.
func OpensFence(text string) string {
	for _, c := range []string{"`", "~"} {
		n := len(text) - len(strings.TrimLeft(text, c))
		if n >= 3 && !(c == "`" && strings.Contains(text[n:], "`")) {
			return text[:n]
		}
	}
	return ""
}

// ClosesFence reports whether a line ends the code block that fence has opened.
func ClosesFence(text, fence string) bool {
	rest := strings.TrimLeft(text, fence[:1])
	return len(text)-len(rest) >= len(fence) && strings.TrimSpace(rest) == ""
}
