package statefile

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// maxDepth is how deep values may nest, as in encoding/json.
const maxDepth = 10000

// A scanner walks over JSON text once, checking it, and hands out pieces of it.
// It is here because state files are large, nearly all of them is attributes that
// nobody looks at, and encoding/json reads each of those several times over.
type scanner struct {
	src   []byte
	pos   int
	depth int
}

// A textError says what is wrong with the text and where.
type textError struct {
	line, column int
	what         string
	truncated    bool // the text ends before its time
}

func (e *textError) Error() string {
	return fmt.Sprintf("line %d, column %d: %s", e.line, e.column, e.what)
}

// fail describes what is wrong at pos.
func (s *scanner) fail(pos int, format string, args ...any) error {
	pos = min(pos, len(s.src))
	head := s.src[:pos]
	return &textError{
		line:   bytes.Count(head, []byte{'\n'}) + 1,
		column: pos - bytes.LastIndexByte(head, '\n'),
		what:   fmt.Sprintf(format, args...),
	}
}

// unexpected says that the text cannot go on as it does at pos.
func (s *scanner) unexpected(wanted string) error {
	// What is left may be the beginning of a word, or nothing.
	if rest := string(s.src[s.pos:min(len(s.src), s.pos+6)]); strings.HasPrefix("null", rest) || strings.HasPrefix("true", rest) || strings.HasPrefix("false", rest) {
		err := s.fail(s.pos, "the text ends where %s is expected", wanted).(*textError)
		err.truncated = true
		return err
	}
	r, _ := utf8.DecodeRune(s.src[s.pos:])
	return s.fail(s.pos, "%s is expected, not %q", wanted, r)
}

// next skips white space and returns the byte behind it, 0 at the end.
func (s *scanner) next() byte {
	for s.pos < len(s.src) {
		switch c := s.src[s.pos]; c {
		case ' ', '\n', '\t', '\r':
			s.pos++
		default:
			return c
		}
	}
	return 0
}

// end checks that nothing follows.
func (s *scanner) end() error {
	if s.next(); s.pos < len(s.src) {
		return s.unexpected("the end of the text")
	}
	return nil
}

// object calls member for each member of the object that starts here; member
// has to consume the value. name is valid during the call only.
func (s *scanner) object(member func(name []byte) error) error {
	return s.members(func(start, end int) error {
		name := s.src[start+1 : end-1]
		if bytes.IndexByte(name, '\\') >= 0 || !utf8.Valid(name) {
			name = []byte(unquote(s.src[start:end]))
		}
		return member(name)
	})
}

// members is object with the place of the quoted name instead of the name.
func (s *scanner) members(member func(start, end int) error) error {
	if s.next() != '{' {
		return s.unexpected("an object")
	}
	if err := s.enter(); err != nil {
		return err
	}
	if s.next() == '}' {
		s.leave()
		return nil
	}
	for {
		if s.next() != '"' {
			return s.unexpected("a name in quotes")
		}
		start := s.pos
		if _, err := s.skipString(); err != nil {
			return err
		}
		end := s.pos
		if s.next() != ':' {
			return s.unexpected("a colon")
		}
		s.pos++
		if err := member(start, end); err != nil {
			return err
		}
		switch s.next() {
		case ',':
			s.pos++
		case '}':
			s.leave()
			return nil
		default:
			return s.unexpected("a comma or }")
		}
	}
}

// array calls element at each element of the array that starts here; element has
// to consume it.
func (s *scanner) array(element func() error) error {
	if s.next() != '[' {
		return s.unexpected("a list")
	}
	if err := s.enter(); err != nil {
		return err
	}
	if s.next() == ']' {
		s.leave()
		return nil
	}
	for {
		if err := element(); err != nil {
			return err
		}
		switch s.next() {
		case ',':
			s.pos++
		case ']':
			s.leave()
			return nil
		default:
			return s.unexpected("a comma or ]")
		}
	}
}

func (s *scanner) enter() error {
	if s.depth++; s.depth > maxDepth {
		return s.fail(s.pos, "values nest deeper than %d", maxDepth)
	}
	s.pos++
	return nil
}

func (s *scanner) leave() {
	s.depth--
	s.pos++
}

// raw consumes a value of any kind and returns its text, a part of src.
func (s *scanner) raw() ([]byte, error) {
	s.next()
	start := s.pos
	if err := s.skip(); err != nil {
		return nil, err
	}
	return s.src[start:s.pos:s.pos], nil
}

// skip consumes a value of any kind.
func (s *scanner) skip() error {
	switch c := s.next(); {
	case c == '{':
		return s.members(func(int, int) error { return s.skip() })
	case c == '[':
		return s.array(s.skip)
	case c == '"':
		_, err := s.skipString()
		return err
	case c == 't':
		return s.word("true")
	case c == 'f':
		return s.word("false")
	case c == 'n':
		return s.word("null")
	case c == '-' || '0' <= c && c <= '9':
		return s.skipNumber()
	}
	return s.unexpected("a value")
}

// word consumes true, false or null.
func (s *scanner) word(w string) error {
	for i := range len(w) {
		if s.pos >= len(s.src) || s.src[s.pos] != w[i] {
			return s.unexpected(w)
		}
		s.pos++
	}
	return nil
}

// null consumes null if it is what comes next.
func (s *scanner) null() bool {
	if s.next() == 'n' && bytes.HasPrefix(s.src[s.pos:], []byte("null")) {
		s.pos += 4
		return true
	}
	return false
}

// skipString consumes a string and reports whether it is free of escapes and of
// anything beyond ASCII.
func (s *scanner) skipString() (plain bool, err error) {
	plain = true
	s.pos++
	for s.pos < len(s.src) {
		switch c := s.src[s.pos]; {
		case c == '"':
			s.pos++
			return plain, nil
		case c == '\\':
			plain = false
			if err := s.skipEscape(); err != nil {
				return false, err
			}
		case c < ' ':
			return false, s.fail(s.pos, "a string has a control character that is not escaped")
		default:
			plain = plain && c < utf8.RuneSelf
			s.pos++
		}
	}
	return false, s.unexpected(`the rest of a string`)
}

func (s *scanner) skipEscape() error {
	s.pos++
	if s.pos >= len(s.src) {
		return s.unexpected("the rest of a string")
	}
	switch s.src[s.pos] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		s.pos++
		return nil
	case 'u':
		s.pos++
		for range 4 {
			if s.pos >= len(s.src) || !isHex(s.src[s.pos]) {
				return s.unexpected("a hexadecimal digit")
			}
			s.pos++
		}
		return nil
	}
	return s.unexpected("an escape sequence")
}

func isHex(c byte) bool {
	return '0' <= c && c <= '9' || 'a' <= c && c <= 'f' || 'A' <= c && c <= 'F'
}

func (s *scanner) skipNumber() error {
	if s.src[s.pos] == '-' {
		s.pos++
	}
	if s.pos < len(s.src) && s.src[s.pos] == '0' {
		s.pos++
	} else if !s.digits() {
		return s.unexpected("a digit")
	}
	if s.pos < len(s.src) && s.src[s.pos] == '.' {
		s.pos++
		if !s.digits() {
			return s.unexpected("a digit")
		}
	}
	if s.pos < len(s.src) && (s.src[s.pos] == 'e' || s.src[s.pos] == 'E') {
		s.pos++
		if s.pos < len(s.src) && (s.src[s.pos] == '+' || s.src[s.pos] == '-') {
			s.pos++
		}
		if !s.digits() {
			return s.unexpected("a digit")
		}
	}
	return nil
}

// digits consumes digits and reports whether there were any.
func (s *scanner) digits() bool {
	start := s.pos
	for s.pos < len(s.src) && '0' <= s.src[s.pos] && s.src[s.pos] <= '9' {
		s.pos++
	}
	return s.pos > start
}

// str consumes a string; null is "".
func (s *scanner) str() (string, error) {
	b, err := s.strBytes()
	return string(b), err
}

// strBytes is str without a copy where none is needed.
func (s *scanner) strBytes() ([]byte, error) {
	if s.null() {
		return nil, nil
	}
	if s.next() != '"' {
		return nil, s.unexpected("a string")
	}
	start := s.pos
	plain, err := s.skipString()
	if err != nil {
		return nil, err
	}
	if plain {
		return s.src[start+1 : s.pos-1], nil
	}
	return []byte(unquote(s.src[start:s.pos])), nil
}

// unquote decodes a string that was checked.
func unquote(quoted []byte) string {
	var out string
	if err := json.Unmarshal(quoted, &out); err != nil {
		panic("statefile: a string passed that encoding/json refuses: " + err.Error())
	}
	return out
}

// integer consumes a whole number that is not negative; null is 0.
func (s *scanner) integer(what string) (int64, error) {
	if s.null() {
		return 0, nil
	}
	s.next()
	start := s.pos
	if s.pos >= len(s.src) {
		return 0, s.unexpected(what)
	}
	raw, err := s.raw()
	if err != nil {
		return 0, err
	}
	n, err := strconv.ParseInt(string(raw), 10, 64)
	if err != nil || n < 0 {
		return 0, s.fail(start, "%s is expected", what)
	}
	return n, nil
}

// boolean consumes true or false; null is false.
func (s *scanner) boolean() (bool, error) {
	switch s.next() {
	case 't':
		return true, s.word("true")
	case 'f':
		return false, s.word("false")
	case 'n':
		return false, s.word("null")
	}
	return false, s.unexpected("true or false")
}
