package redacting

import (
	"slices"
	"unicode"
	"unicode/utf8"
)

// A span is a part of a text. It begins at the byte from, and ends before the byte to.
type span struct{ from, to int }

// A stream is a text or its decoded form. at is, for each character, its position in the original text.
type stream struct {
	runes []rune
	at    []span
}

func newStream(text string, offset int) stream {
	s := stream{make([]rune, 0, len(text)), make([]span, 0, len(text))}
	for i, r := range text {
		width := utf8.RuneLen(r)
		if r == utf8.RuneError {
			_, width = utf8.DecodeRuneInString(text[i:])
		}
		s.push(r, span{offset + i, offset + i + width})
	}
	return s
}

func (s *stream) push(r rune, at span) {
	s.runes = append(s.runes, r)
	s.at = append(s.at, at)
}

// pushed appends text to the stream. text is the decoded form of the characters from i to j of the stream
// source.
func (s *stream) pushed(text string, source stream, i, j int) {
	for _, r := range text {
		s.push(r, span{source.at[i].from, source.at[j-1].to})
	}
}

// text returns the characters of the stream from index i on, at most n.
func (s stream) text(i, n int) string {
	return string(s.runes[i:min(len(s.runes), i+n)])
}

// A reduced text has only the visible characters of a stream, without blank space, in UTF-8. rune is, for each
// byte, the index of its character in the stream.
type reduced struct {
	bytes []byte
	rune  []int32
}

// reduced returns the visible characters of the stream, without blank space. If margins is set, it also leaves
// out the margins of lines.
func (s stream) reduced(margins bool) reduced {
	r := reduced{make([]byte, 0, len(s.runes)), make([]int32, 0, len(s.runes))}
	for i := 0; i < len(s.runes); i++ {
		if margins && (i == 0 || s.runes[i-1] == '\n') {
			if i += margin(s.runes[i:min(len(s.runes), i+maxMargin)]); i == len(s.runes) {
				break
			}
		}
		if unseen(s.runes[i]) {
			continue
		}
		before := len(r.bytes)
		r.bytes = utf8.AppendRune(r.bytes, s.runes[i])
		for range len(r.bytes) - before {
			r.rune = append(r.rune, int32(i))
		}
	}
	return r
}

// reduce returns the visible characters of a text without blank space. It also leaves out the margins of its
// lines.
func reduce(text string) string { return string(newStream(text, 0).reduced(true).bytes) }

// reduceAll returns the visible characters of a text without blank space. Unlike [reduce], it keeps the margins
// of lines.
func reduceAll(text string) string { return string(newStream(text, 0).reduced(false).bytes) }

// unseen reports whether a reader does not see the character: it is blank space or invisible. The replacement
// character, which stands for bytes that are not UTF-8, is treated as invisible, because the original bytes are
// not known.
// Source: https://www.unicode.org/reports/tr44/#Default_Ignorable_Code_Point
func unseen(r rune) bool {
	if r > ' ' && r < 0x7f {
		return false
	}
	switch {
	case unicode.IsSpace(r), unicode.Is(unicode.Cc, r), unicode.Is(unicode.Cf, r), r == utf8.RuneError:
		return true
	}
	return unicode.Is(unicode.Other_Default_Ignorable_Code_Point, r) || unicode.Is(unicode.Variation_Selector, r)
}

// maxMargin is the maximum length of a line's margin, in characters.
const maxMargin = 200

// margins are signs that appear in the margins of Lockstep's reports, between spaces: symbols of actions, and
// the vertical line of a diagnostic.
var margins = []string{"+", "-", "~", "!", ".", "-/+", "+/-", "<=", "│"}

// margin returns how many characters a line has before its text, such as spaces and the "+" of a diff.
func margin(line []rune) int {
	i := blanks(line)
	word := i
	for word < len(line) && word-i < 12 && line[word] != ' ' && line[word] != '\n' {
		word++
	}
	if word == len(line) || line[word] != ' ' {
		return i
	}
	text := string(line[i:word])
	numbered := run(text) > 0 && text[run(text):] == ":"
	if numbered || slices.Contains(margins, text) {
		return word + blanks(line[word:])
	}
	return i
}

func blanks(line []rune) int {
	n := 0
	for n < len(line) && (line[n] == ' ' || line[n] == '\t') {
		n++
	}
	return n
}
