package markdown

import (
	"fmt"
	"strings"
	"unicode"
)

// Code returns text as a code span, in which no character has a meaning in Markdown, and invisible characters
// are shown by their numbers. Several lines become one line.
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

// Fence returns text as a code block that the text cannot end. language selects the colours; "" means none.
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

// visible returns a text that shows invisible characters, and those that change how others look, by their
// numbers. They are control characters, and Unicode characters that change the direction of text or have no
// width. Lockstep's own hidden markers become visible, too. lines is set if line breaks and tabs stay as they
// are.
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

// List returns names as code, separated by commas.
func List(names []string) string {
	var parts []string
	for _, n := range names {
		parts = append(parts, Code(n))
	}
	return strings.Join(parts, ", ")
}

// Few returns names as code, followed by the number of further ones: "`a`, `b`, and 3 more".
func Few(names []string, more int) string {
	if more > 0 {
		return fmt.Sprintf("%s, and %d more", List(names), more)
	}
	return List(names)
}

// Names returns a list of names as code. If there are over a quarter more than n names, it returns the first n,
// and the number of the others.
func Names(names []string, n int) string {
	if len(names) <= n+n/4 {
		return List(names)
	}
	return Few(names[:n], len(names)-n)
}

// SHA returns the first 7 digits of a commit's SHA, for people.
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

// Whole returns the sentence that says where the full text is. where is an address, or a command that prints
// the text.
func Whole(where string) string { return "The full text: " + place(where) + "." }
