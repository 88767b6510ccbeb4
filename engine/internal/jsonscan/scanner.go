// Package jsonscan reads JSON text once, from front to back, checks it, and returns pieces of it without
// copies. State files are large, and nearly all of their text is attributes that nobody needs: encoding/json
// would read each of them several times.
//
// It refuses to know what a text means, and decodes only strings, whole numbers and booleans. Start at
// [Scanner].
package jsonscan

// A Scanner is a position in a text. Each method consumes one token or value, with the white space before it.
// If something else comes next, it returns an [*Error], and the position is undefined.
type Scanner struct {
	src   []byte
	pos   int
	depth int
}

// New returns a scanner at the beginning of src. src must not change while the scanner is in use.
func New(src []byte) Scanner { return Scanner{src: src} }

// Pos returns the offset of the next byte.
func (s *Scanner) Pos() int { return s.pos }

// Src returns the text between two offsets, without a copy.
func (s *Scanner) Src(start, end int) []byte { return s.src[start:end:end] }

// Next skips white space and returns the byte after it without consuming the byte; 0 at the end. It is short
// enough to be inlined, for texts without white space.
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

// Take consumes the byte b if it comes next, and reports whether it did. b must not be 0.
func (s *Scanner) Take(b byte) bool {
	if s.Next() != b {
		return false
	}
	s.pos++
	return true
}

// End returns an error if anything but white space follows.
func (s *Scanner) End() error {
	if s.Next(); s.pos < len(s.src) {
		return s.unexpected("the end of the text")
	}
	return nil
}

// Again moves the scanner back to the offset start, and calls f to read a value a second time. Then Again
// returns to the present position. Places in errors refer to the whole text.
func (s *Scanner) Again(start int, f func() error) error {
	end := s.pos
	s.pos = start
	err := f()
	if err == nil {
		s.pos = end
	}
	return err
}
