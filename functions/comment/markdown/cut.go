package markdown

import (
	"strings"

	"github.com/lockstep-iac/lockstep/functions/comment/grammar"
)

// Cut shortens Markdown to at most limit bytes, at the end of a line, and closes a code block or
// <details> that is open there. A line of its own tells that the rest is missing.
func Cut(text string, limit int) string { return CutTo(text, limit, "") }

// CutTo adds to that line where the whole text is: a sentence in Markdown, or nothing.
func CutTo(markdown string, limit int, where string) string {
	if len(markdown) <= limit {
		return markdown
	}
	left := "\n\n*The rest is left out: it does not fit here.*\n"
	if where != "" {
		left = "\n\n*The rest is left out: it does not fit here.* " + where + "\n"
	}
	var out strings.Builder
	fence, details := "", 0
	closing := func() string {
		s := ""
		if fence != "" {
			s = fence + "\n"
		}
		return s + left + strings.Repeat("\n</details>\n", details)
	}
	end := closing()
	for line := range strings.Lines(markdown) {
		text := strings.TrimRight(strings.TrimLeft(line, " "), "\n")
		wasFence, wasDetails := fence, details
		switch {
		case fence == "":
			fence = grammar.OpensFence(text)
			details = max(0, details+strings.Count(text, "<details")-strings.Count(text, "</details>"))
		case grammar.ClosesFence(text, fence):
			fence = ""
		}
		next := closing()
		if out.Len()+len(line)+len(next) > limit {
			fence, details = wasFence, wasDetails
			break
		}
		out.WriteString(line)
		end = next
	}
	if out.Len()+len(end) > limit {
		return "" // not even the last line fits
	}
	return out.String() + end
}
