package markdown

import (
	"fmt"
	"strings"
	"unicode"
)

// Code returns text as a code span of one line. No character in it has a meaning in Markdown. Invisible
// characters are shown by their numbers.
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

// Fence returns text as a code block. Nothing in text can end the block. language selects the colours; "" means
// none.
func Fence(language, text string) string {
	fence := strings.Repeat("`", max(3, longestRun(text, '`')+1))
	return fence + language + "\n" + strings.TrimRight(visible(text, true), "\n") + "\n" + fence
}

// longestRun returns how many times c occurs in a row at most.
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

// visible returns text with certain characters replaced by their numbers: control characters, and Unicode
// characters that change the direction of text or have no width. Lockstep's own hidden markers become visible,
// too. lines is set if line breaks and tabs stay unchanged.
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

// Few returns names as code, and the number of names that are left out: "`a`, `b`, and 3 more".
func Few(names []string, more int) string {
	if more > 0 {
		return fmt.Sprintf("%s, and %d more", List(names), more)
	}
	return List(names)
}

// Names returns a list of names as code. A list that is more than a quarter longer than n is shortened to the
// first n names and the number of the rest.
func Names(names []string, n int) string {
	if len(names) <= n+n/4 {
		return List(names)
	}
	return Few(names[:n], len(names)-n)
}

// SHA returns the first 7 digits of a commit's SHA, for people.
func SHA(sha string) string { return sha[:min(len(sha), 7)] }

// place returns where as a link if it is an address, and otherwise, for example for a command, as code.
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
