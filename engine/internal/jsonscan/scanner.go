// Package jsonscan walks over JSON text once, from front to back, checks it, and hands out
// pieces of it without copies. State files are large, and nearly all of them is attributes
// that nobody looks at: encoding/json reads each of those several times over.
//
// It refuses to know the meaning of a text, and decodes nothing but strings, whole numbers
// and booleans. Start at [Scanner].
package jsonscan

// A Scanner is a position in a text. Each method consumes one piece, with the white space
// before it, and returns an [*Error] if something else comes next; the position is then not
// defined.
type Scanner struct {
	src   []byte
	pos   int
	depth int
}

// New returns a scanner at the beginning of src, which must not change while it is in use.
func New(src []byte) Scanner { return Scanner{src: src} }

// Pos returns the offset of the next byte.
func (s *Scanner) Pos() int { return s.pos }

// Src returns the text between two offsets, without a copy.
func (s *Scanner) Src(start, end int) []byte { return s.src[start:end:end] }

// Next skips white space and returns the byte behind it, 0 at the end. It is short enough to
// be inlined, for texts without white space.
func (s *Scanner) Next() byte {
	if s.pos < len(s.src) && s.src[s.pos] > ' ' {
		return s.src[s.pos]
	}
	return s.nextAfterSpace()
}

func (s *Scanner) nextAfterSpace() byte {
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

// Take consumes b, which is not 0, and reports whether it came next.
func (s *Scanner) Take(b byte) bool {
	if s.Next() != b {
		return false
	}
	s.pos++
	return true
}

// End checks that nothing follows.
func (s *Scanner) End() error {
	if s.Next(); s.pos < len(s.src) {
		return s.unexpected("the end of the text")
	}
	return nil
}

// Again calls f with the scanner back at an earlier offset, for a second look at a value, and
// then returns to the present one. An error has the range in the whole text.
func (s *Scanner) Again(start int, f func() error) error {
	end := s.pos
	s.pos = start
	err := f()
	if err == nil {
		s.pos = end
	}
	return err
}
