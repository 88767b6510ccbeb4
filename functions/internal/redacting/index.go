package redacting

import (
	"unicode"
)

// window is the length, in reduced bytes, of the parts of a long secret that are found separately. They are
// searched because a report that shows a part of a long line may show only a part of a secret.
const window = 32

// In a secret of at most dense bytes, a window begins at each byte. In longer secrets, and in encodings, a
// window begins at every stride-th byte. Windows overlap, so a whole secret is always found.
const (
	dense  = 4096
	stride = 16
)

// longSolid is a length in bytes. A secret without blank space that is at least this long is also found if the
// text has blank space in it. A shorter one is not: for example, "a sit is" does not contain "asiti".
const longSolid = 12

// A kind says at which places in a text a short secret is removed: for example, only as a whole word.
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

// An index finds reduced secrets in reduced texts: see [reduced]. The time does not grow with the number of
// secrets. A window is a part of fixed length.
//   - Secrets shorter than a window are found by their first bytes and their length. There are at most [window]
//     lengths.
//   - Longer secrets are found by the hashes of their windows, computed as a rolling sum.
//
// If different windows have the same 64-bit hash, harmless text is hidden.
type index struct {
	short   map[string]kind
	lengths map[[prefix]byte]uint64 // bit n: a short secret of n bytes has this prefix
	windows map[uint64]struct{}
	bits    [1 << 13]uint64 // a filter of the hashes of windows: most hashes are not in it
}

// prefix is the number of bytes at the beginning of short secrets by which the index finds them.
const prefix = 4

func newIndex() *index {
	return &index{short: map[string]kind{}, lengths: map[[prefix]byte]uint64{}, windows: map[uint64]struct{}{}}
}

// add adds a reduced secret to the index. If whole is set, and the secret is not too long, each part of it that
// is as long as a window is also removed from texts.
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

// base is the factor of the rolling sum: each byte of a window is multiplied by a power of base.
const base = 0x9E3779B97F4A7C15

// first is the factor of a window's first byte in the rolling sum. This byte is the next one to leave the
// window.
var first = func() uint64 {
	p := uint64(1)
	for range window {
		p *= base
	}
	return p
}()

// bit returns the number of the bit for a hash in the index's filter.
func bit(h uint64) uint64 { return (h ^ h>>29) * 0xBF58476D1CE4E5B9 >> (64 - 19) }

// find returns where the secrets are in a stream, as spans of the original text.
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

// shorts looks for short secrets that begin at the position at, and that are to be removed there. It appends
// the span of the longest one to out.
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

// span returns the place in the original text of the bytes from i to j of the reduced text r.
func (s stream) span(r reduced, i, j int) span {
	return span{s.at[r.rune[i]].from, s.at[r.rune[j-1]].to}
}

// counts reports whether a short secret of the kind k is removed if it is found between the characters from and
// to of the stream.
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
