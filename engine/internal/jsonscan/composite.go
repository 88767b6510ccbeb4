package jsonscan

import (
	"bytes"
	"unicode/utf8"
)

// maxDepth is the largest depth of nested values, the same as in encoding/json.
const maxDepth = 10000

// Object reads an object: it calls member for each member. member must consume the value. name is valid only
// during the call.
func (s *Scanner) Object(member func(name []byte) error) error {
	return s.Members(func(start, end int) error {
		name := s.src[start+1 : end-1]
		if bytes.IndexByte(name, '\\') >= 0 || !utf8.Valid(name) {
			name = []byte(Unquote(s.src[start:end]))
		}
		return member(name)
	})
}

// Members reads an object, as [Scanner.Object] does. It calls member with the offsets of each quoted name
// instead of the name.
func (s *Scanner) Members(member func(start, end int) error) error {
	if s.Next() != '{' {
		return s.unexpected("an object")
	}
	if err := s.enter(); err != nil {
		return err
	}
	if s.Next() == '}' {
		s.leave()
		return nil
	}
	for {
		if s.Next() != '"' {
			return s.unexpected("a name in quotes")
		}
		start := s.pos
		if _, err := s.skipString(); err != nil {
			return err
		}
		end := s.pos
		if s.Next() != ':' {
			return s.unexpected("a colon")
		}
		s.pos++
		if err := member(start, end); err != nil {
			return err
		}
		switch s.Next() {
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

// Array reads an array: it calls element for each element. element must consume the value.
func (s *Scanner) Array(element func() error) error {
	if s.Next() != '[' {
		return s.unexpected("a list")
	}
	if err := s.enter(); err != nil {
		return err
	}
	if s.Next() == ']' {
		s.leave()
		return nil
	}
	for {
		if err := element(); err != nil {
			return err
		}
		switch s.Next() {
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

func (s *Scanner) enter() error {
	if s.depth++; s.depth > maxDepth {
		return s.Fail(s.pos, "values nest deeper than %d", maxDepth)
	}
	s.pos++
	return nil
}

func (s *Scanner) leave() {
	s.depth--
	s.pos++
}

// Raw consumes a value of any kind and returns its text, without a copy.
func (s *Scanner) Raw() ([]byte, error) {
	s.Next()
	start := s.pos
	if err := s.Skip(); err != nil {
		return nil, err
	}
	return s.src[start:s.pos:s.pos], nil
}

// Skip consumes a value of any kind.
func (s *Scanner) Skip() error {
	switch c := s.Next(); {
	case c == '{':
		return s.Members(func(int, int) error { return s.Skip() })
	case c == '[':
		return s.Array(s.Skip)
	case c == '"':
		_, err := s.skipString()
		return err
	case c == 't':
		return s.Word("true")
	case c == 'f':
		return s.Word("false")
	case c == 'n':
		return s.Word("null")
	case c == '-' || '0' <= c && c <= '9':
		return s.skipNumber()
	}
	return s.unexpected("a value")
}
