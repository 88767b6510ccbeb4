package markdown

import (
	"fmt"
	"strings"
	"unicode"
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

// List lists names as code.
func List(names []string) string {
	var parts []string
	for _, n := range names {
		parts = append(parts, Code(n))
	}
	return strings.Join(parts, ", ")
}

// Few lists names as code, and tells that there are more.
func Few(names []string, more int) string {
	if more > 0 {
		return fmt.Sprintf("%s, and %d more", List(names), more)
	}
	return List(names)
}

// Names lists names, the first of many: it cuts a list only where that saves some.
func Names(names []string, most int) string {
	if len(names) <= most+most/4 {
		return List(names)
	}
	return Few(names[:most], len(names)-most)
}

// SHA is as much of the SHA of a commit as people read.
func SHA(sha string) string { return sha[:min(len(sha), 7)] }

// place returns an address as a link, and anything else as code.
func place(where string) string {
	if strings.HasPrefix(where, "http://") || strings.HasPrefix(where, "https://") {
		if !strings.ContainsAny(where, "<>\"` \n") {
			return "<" + where + ">"
		}
	}
	return Code(where)
}

// Whole says where all of a text is that was shortened: at an address, or by a command that prints it.
func Whole(where string) string { return "The full text: " + place(where) + "." }
