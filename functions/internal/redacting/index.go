package redacting

import (
	"unicode"
)

// A long secret is also found by any so many characters in a row, reduced: a report that shows a
// part of a long line shows a part of a secret.
const window = 32

// For a secret up to this length a window begins at each byte; for longer ones, and for encodings,
// at every so many bytes. Windows overlap, so the whole of a secret is found.
const (
	dense  = 4096
	stride = 16
)

// A short secret without blank space is not found across blank space: "a sit is" does not contain
// "asiti". This is the limit of its length in bytes.
const longSolid = 12

// A kind limits where a short secret is found.
type kind byte

const (
	anywhere kind = iota
	solid         // not across blank space
	word          // not as a part of a word
)

func kindOf(isSolid, isWord bool) kind {
	switch {
	case isWord:
		return word
	case isSolid:
		return solid
	}
	return anywhere
}

// An index finds reduced secrets in reduced texts, in a time that does not grow with the number of
// secrets. Secrets shorter than a window are found by their first bytes and their length, of which
// there are at most [window]; longer ones by the hashes of windows, from a rolling sum. A false
// find, of two windows with the same hash of 64 bits, hides harmless text.
type index struct {
	short   map[string]kind
	lengths map[[prefix]byte]uint64 // bit n: a short secret of n bytes has this prefix
	windows map[uint64]struct{}
	bits    [1 << 13]uint64 // a filter of the hashes of windows: most hashes are not in it
}

// prefix is the number of first bytes that tell short secrets apart.
const prefix = 4

func newIndex() *index {
	return &index{short: map[string]kind{}, lengths: map[[prefix]byte]uint64{}, windows: map[uint64]struct{}{}}
}

// add adds a reduced secret; with whole, each part of it of the length of a window counts.
func (x *index) add(text string, k kind, whole bool) {
	if len(text) < window {
		if have, ok := x.short[text]; !ok || k < have {
			x.short[text] = k
		}
		x.lengths[[prefix]byte([]byte(text[:prefix]))] |= 1 << len(text)
		return
	}
	step := stride
	if whole && len(text) <= dense {
		step = 1
	}
	last := len(text) - window
	for i := 0; i < last; i += step {
		x.window(text[i : i+window])
	}
	x.window(text[last:])
}

func (x *index) window(text string) {
	var h uint64
	for i := range len(text) {
		h = h*base + uint64(text[i]) + 1
	}
	x.windows[h] = struct{}{}
	x.bits[bit(h)/64] |= 1 << (bit(h) % 64)
}

// The sum of a window is that of its bytes, each multiplied by a power of base.
const base = 0x9E3779B97F4A7C15

// first is the factor of the byte that leaves a window.
var first = func() uint64 {
	p := uint64(1)
	for range window {
		p *= base
	}
	return p
}()

// bit maps a hash to its bit in bits.
func bit(h uint64) uint64 { return (h ^ h>>29) * 0xBF58476D1CE4E5B9 >> (64 - 19) }

// find returns the spans of secrets in a stream, in bytes of the text.
func (x *index) find(s stream) []span {
	r := s.reduced(true)
	var out []span
	var h uint64
	for i, c := range r.bytes {
		h = h*base + uint64(c) + 1
		if i >= window {
			h -= first * (uint64(r.bytes[i-window]) + 1)
		}
		if i >= window-1 && x.bits[bit(h)/64]>>(bit(h)%64)&1 == 1 {
			if _, ok := x.windows[h]; ok {
				out = append(out, s.span(r, i-window+1, i+1))
			}
		}
		if n := i + 1 - prefix; n >= 0 {
			out = x.shorts(out, s, r, n)
		}
	}
	return out
}

// shorts adds the longest short secret that begins at a position and counts there.
func (x *index) shorts(out []span, s stream, r reduced, at int) []span {
	lengths := x.lengths[[prefix]byte(r.bytes[at:at+prefix])]
	for n := window - 1; n >= prefix && lengths != 0; n-- {
		if lengths>>n&1 == 0 || at+n > len(r.bytes) {
			continue
		}
		k, ok := x.short[string(r.bytes[at:at+n])]
		if ok && s.counts(k, int(r.rune[at]), int(r.rune[at+n-1])) {
			return append(out, s.span(r, at, at+n))
		}
	}
	return out
}

// span returns the origin of some reduced bytes in the text.
func (s stream) span(r reduced, i, j int) span {
	return span{s.at[r.rune[i]].from, s.at[r.rune[j-1]].to}
}

// counts reports whether a short secret may be found from one character to another.
func (s stream) counts(k kind, from, to int) bool {
	if k == anywhere {
		return true
	}
	for _, r := range s.runes[from : to+1] {
		if unicode.IsSpace(r) {
			return false
		}
	}
	return k == solid || (from == 0 || !inWord(s.runes[from-1])) && (to+1 == len(s.runes) || !inWord(s.runes[to+1]))
}

func inWord(r rune) bool {
	return r == '_' || r == '-' || unicode.IsLetter(r) || unicode.IsDigit(r)
}
