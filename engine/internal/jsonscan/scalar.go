package jsonscan

import (
	"bytes"
	"strconv"
)

// Integer consumes a whole number that is not negative; null is 0. wanted describes the number in errors.
func (s *Scanner) Integer(wanted string) (int64, error) {
	if s.Null() {
		return 0, nil
	}
	s.Next()
	start := s.pos
	if s.pos >= len(s.src) {
		return 0, s.unexpected(wanted)
	}
	raw, err := s.Raw()
	if err != nil {
		return 0, err
	}
	n, err := strconv.ParseInt(string(raw), 10, 64)
	if err != nil || n < 0 {
		return 0, s.Fail(start, "%s is expected", wanted)
	}
	return n, nil
}

// Boolean consumes true or false; null is false.
func (s *Scanner) Boolean() (bool, error) {
	switch s.Next() {
	case 't':
		return true, s.Word("true")
	case 'f':
		return false, s.Word("false")
	case 'n':
		return false, s.Word("null")
	}
	return false, s.unexpected("true or false")
}

// Null consumes null if it comes next, and reports whether it did.
func (s *Scanner) Null() bool {
	if s.Next() == 'n' && bytes.HasPrefix(s.src[s.pos:], []byte("null")) {
		s.pos += 4
		return true
	}
	return false
}

// Word consumes the word w: true, false or null. Another token is an error.
func (s *Scanner) Word(w string) error {
	for i := range len(w) {
		if s.pos >= len(s.src) || s.src[s.pos] != w[i] {
			return s.unexpected(w)
		}
		s.pos++
	}
	return nil
}

// Number consumes a number and returns its text, without a copy.
func (s *Scanner) Number() ([]byte, error) {
	if c := s.Next(); c != '-' && (c < '0' || c > '9') {
		return nil, s.unexpected("a number")
	}
	start := s.pos
	err := s.skipNumber()
	return s.src[start:s.pos:s.pos], err
}

func (s *Scanner) skipNumber() error {
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
func (s *Scanner) digits() bool {
	start := s.pos
	for s.pos < len(s.src) && '0' <= s.src[s.pos] && s.src[s.pos] <= '9' {
		s.pos++
	}
	return s.pos > start
}
