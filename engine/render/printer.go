package render

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// A Printer writes text for people. The zero value writes without colour, 78 columns wide. It is immutable
// and safe for concurrent use.
type Printer struct {
	// Color switches ANSI escape sequences on.
	Color bool
	// Width is the number of columns for wrapping prose; 0 means 78, a negative number means no wrapping.
	Width int
	// ShowSensitive shows sensitive values in plans, states and outputs. All other messages hide them even so.
	ShowSensitive bool
}

// defaultWidth is the width of outputs that are not a terminal.
const defaultWidth = 78

func (p *Printer) width() int {
	switch {
	case p.Width == 0:
		return defaultWidth
	case p.Width < 0:
		return 1 << 30
	}
	return p.Width
}

// A style is an ANSI sequence that starts a style of text.
type style string

const (
	bold      style = "\x1b[1m"
	underline style = "\x1b[4m"
	red       style = "\x1b[31m"
	green     style = "\x1b[32m"
	yellow    style = "\x1b[33m"
	cyan      style = "\x1b[36m"
	gray      style = "\x1b[90m"
	plain     style = "\x1b[0m"
)

// in returns s in a style. Without colours it returns s unchanged.
func (p *Printer) in(st style, s string) string {
	if !p.Color || s == "" {
		return s
	}
	return string(st) + s + string(plain)
}

// visible returns s with all characters escaped that could change how a terminal or a reader understands the
// text around it: control characters, and marks that reverse or hide text. Line feeds and tabs stay.
func visible(s string) string {
	clean := true
	for _, r := range s {
		if hidden(r) {
			clean = false
			break
		}
	}
	if clean && utf8.ValidString(s) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && n == 1:
			b.WriteRune(utf8.RuneError)
		case hidden(r):
			b.WriteString(escaped(r))
		default:
			b.WriteRune(r)
		}
		i += n
	}
	return b.String()
}

// hidden reports whether r is not shown as a character of its own. Joiners count as shown, because they are
// parts of letters and emoji.
func hidden(r rune) bool {
	switch r {
	case '\n', '\t', '\u200c', '\u200d':
		return false
	}
	return unicode.Is(unicode.Cc, r) || unicode.Is(unicode.Cf, r) || r == '\u2028' || r == '\u2029'
}

const hexDigits = "0123456789abcdef"

// escaped returns r as an escape sequence, as in a string literal.
func escaped(r rune) string {
	if r == '\r' {
		return `\r`
	}
	if r > 0xffff {
		b := []byte(`\U00000000`)
		for i := len(b) - 1; r > 0; i-- {
			b[i] = hexDigits[r&15]
			r >>= 4
		}
		return string(b)
	}
	return `\u` + string([]byte{hexDigits[r>>12&15], hexDigits[r>>8&15], hexDigits[r>>4&15], hexDigits[r&15]})
}

// wrap breaks the lines of s between words, so that no line is wider than width unless a single word is.
// Lines that start with a space stay unchanged.
func wrap(s string, width int) string {
	lines := strings.Split(s, "\n")
	for i, l := range lines {
		if !strings.HasPrefix(l, " ") {
			lines[i] = wrapLine(l, width)
		}
	}
	return strings.Join(lines, "\n")
}

func wrapLine(s string, width int) string {
	if utf8.RuneCountInString(s) <= width {
		return s
	}
	var b strings.Builder
	column := 0
	for i, word := range strings.Split(s, " ") {
		n := utf8.RuneCountInString(word)
		switch {
		case i == 0:
		case column+1+n > width && column > 0:
			b.WriteByte('\n')
			column = 0
		default:
			b.WriteByte(' ')
			column++
		}
		b.WriteString(word)
		column += n
	}
	return b.String()
}

// Bold returns s in bold type. Without colours it returns s unchanged.
func (p *Printer) Bold(s string) string { return p.in(bold, s) }
