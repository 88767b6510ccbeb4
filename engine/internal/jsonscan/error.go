package jsonscan

import (
	"bytes"
	"fmt"
	"strings"
	"unicode/utf8"
)

// An Error is a problem of the text, and its place.
type Error struct {
	Line, Column int // from 1; the column counts bytes
	Problem      string
	Truncated    bool // the text ends too early
}

func (e *Error) Error() string {
	return fmt.Sprintf("line %d, column %d: %s", e.Line, e.Column, e.Problem)
}

// Fail returns an error about the text at the offset pos.
func (s *Scanner) Fail(pos int, format string, args ...any) error {
	pos = min(pos, len(s.src))
	head := s.src[:pos]
	return &Error{
		Line:    bytes.Count(head, []byte{'\n'}) + 1,
		Column:  pos - bytes.LastIndexByte(head, '\n'),
		Problem: fmt.Sprintf(format, args...),
	}
}

// unexpected returns the error for text that does not continue with the wanted token.
func (s *Scanner) unexpected(wanted string) error {
	// Nothing is left, or only the beginning of the word null, true or false: the text is cut off.
	if rest := string(s.src[s.pos:min(len(s.src), s.pos+6)]); strings.HasPrefix("null", rest) || strings.HasPrefix("true", rest) || strings.HasPrefix("false", rest) {
		err := s.Fail(s.pos, "the text ends where %s is expected", wanted).(*Error)
		err.Truncated = true
		return err
	}
	r, _ := utf8.DecodeRune(s.src[s.pos:])
	return s.Fail(s.pos, "%s is expected, not %q", wanted, r)
}
