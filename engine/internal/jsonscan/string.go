package jsonscan

import (
	"encoding/json"
	"unicode/utf8"
)

// Text consumes a string; null is "".
func (s *Scanner) Text() (string, error) {
	b, err := s.TextBytes()
	return string(b), err
}

// TextBytes returns the same as [Scanner.Text], but as bytes. If the string has no escapes, they are not
// copied.
func (s *Scanner) TextBytes() ([]byte, error) {
	if s.Null() {
		return nil, nil
	}
	return s.Quoted()
}

// Quoted reads a string, as [Scanner.TextBytes] does. Unlike there, null is an error.
func (s *Scanner) Quoted() ([]byte, error) {
	if s.Next() != '"' {
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
	return []byte(Unquote(s.src[start:s.pos])), nil
}

// Unquote decodes a string that a scanner has consumed.
func Unquote(quoted []byte) string {
	var out string
	if err := json.Unmarshal(quoted, &out); err != nil {
		panic("jsonscan: a string passed that encoding/json refuses: " + err.Error())
	}
	return out
}

// skipString consumes a string. plain reports whether the string has no escapes and only ASCII characters.
func (s *Scanner) skipString() (plain bool, err error) {
	plain = true
	src := s.src
	for i := s.pos + 1; i < len(src); i++ {
		switch c := src[i]; {
		case c == '"':
			s.pos = i + 1
			return plain, nil
		case c == '\\':
			plain = false
			s.pos = i
			if err := s.skipEscape(); err != nil {
				return false, err
			}
			i = s.pos - 1
		case c < ' ':
			return false, s.Fail(i, "a string has a control character that is not escaped")
		case c >= utf8.RuneSelf:
			plain = false
		}
	}
	s.pos = len(src)
	return false, s.unexpected(`the rest of a string`)
}

func (s *Scanner) skipEscape() error {
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
