package comment

import (
	"fmt"
	"strings"
	"unicode"

	"github.com/lockstep-iac/lockstep/functions/comment/grammar"
)

// Code returns text as a code span, which shows every character and gives none a meaning. Text of
// more than one line becomes one.
func Code(text string) string {
	text = visible(text, false)
	if strings.TrimSpace(text) == "" {
		return "` `"
	}
	fence := strings.Repeat("`", longestRun(text, '`')+1)
	if strings.HasPrefix(text, "`") || strings.HasSuffix(text, "`") {
		text = " " + text + " " // GitHub removes these spaces
	}
	return fence + text + fence
}

// Fence returns text as a code block that the text cannot end. language colours it; "" leaves it
// plain.
func Fence(language, text string) string {
	fence := strings.Repeat("`", max(3, longestRun(text, '`')+1))
	return fence + language + "\n" + strings.TrimRight(visible(text, true), "\n") + "\n" + fence
}

// longestRun returns the length of the longest run of c.
func longestRun(s string, c rune) int {
	longest, run := 0, 0
	for _, r := range s {
		if r != c {
			run = 0
			continue
		}
		run++
		longest = max(longest, run)
	}
	return longest
}

// visible shows by their numbers the characters that are invisible, or change the look of others:
// control characters, and those of Unicode that turn the direction of text or have no width.
// Markers of ours become visible, too.
func visible(text string, lines bool) string { return Unmarked(shown(text, lines)) }

func shown(text string, lines bool) string {
	hiding := func(r rune) bool {
		if lines && (r == '\n' || r == '\t') {
			return false
		}
		return unicode.Is(unicode.Cc, r) || unicode.Is(unicode.Cf, r) || r == '\u2028' || r == '\u2029' || r == unicode.ReplacementChar
	}
	text = strings.ToValidUTF8(text, "\ufffd")
	if !strings.ContainsFunc(text, hiding) {
		return text
	}
	var b strings.Builder
	for _, r := range text {
		switch {
		case !hiding(r):
			b.WriteRune(r)
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\t':
			b.WriteString(`\t`)
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
	}
	return b.String()
}

// Cut shortens Markdown to at most limit bytes, at the end of a line, and closes a code block or
// <details> that is open there. A line of its own tells that the rest is missing.
func Cut(markdown string, limit int) string { return cut(markdown, limit, "") }

// cut adds to that line where the whole text is: a sentence in Markdown, or nothing.
func cut(markdown string, limit int, where string) string {
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
