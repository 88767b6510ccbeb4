package planfile

import "encoding/binary"

// fits reports whether src is exactly one msgpack value and no length in it exceeds src. Without this check,
// a msgpack decoder allocates what a damaged length promises. The format is that of
// https://github.com/msgpack/msgpack/blob/master/spec.md
func fits(src []byte) bool {
	values := uint64(1) // number of values still to come
	for ; values > 0; values-- {
		if len(src) == 0 {
			return false
		}
		head, inner, size := msgpackHead(src)
		if head == 0 || uint64(head)+size > uint64(len(src)) {
			return false
		}
		src = src[uint64(head)+size:]
		if values += inner; values > uint64(len(src))+1 { // each takes a byte
			return false
		}
	}
	return len(src) == 0
}

// msgpackHead returns the length of a value's first bytes, the number of values inside the value, and the
// length of its own content. A head of 0 means that the value is invalid.
func msgpackHead(src []byte) (head int, inner, size uint64) {
	b := src[0]
	switch {
	case b <= 0x7F || b >= 0xE0: // small integers
		return 1, 0, 0
	case b <= 0x8F: // small maps
		return 1, 2 * uint64(b&0x0F), 0
	case b <= 0x9F: // small arrays
		return 1, uint64(b & 0x0F), 0
	case b <= 0xBF: // small strings
		return 1, 0, uint64(b & 0x1F)
	}
	switch b {
	case 0xC0, 0xC2, 0xC3: // nil, false, true
		return 1, 0, 0
	case 0xC4, 0xC5, 0xC6: // binary
		n, head := length(src, 1<<(b-0xC4))
		return head, 0, n
	case 0xC7, 0xC8, 0xC9: // extensions
		n, head := length(src, 1<<(b-0xC7))
		return head, 0, n + 1
	case 0xCA, 0xCC, 0xCD, 0xCE, 0xCF, 0xD0, 0xD1, 0xD2, 0xD3, 0xCB: // numbers
		return 1, 0, [...]uint64{4, 8, 1, 2, 4, 8, 1, 2, 4, 8}[b-0xCA]
	case 0xD4, 0xD5, 0xD6, 0xD7, 0xD8: // extensions of fixed length
		return 1, 0, 1 + 1<<(b-0xD4)
	case 0xD9, 0xDA, 0xDB: // strings
		n, head := length(src, 1<<(b-0xD9))
		return head, 0, n
	case 0xDC, 0xDD: // arrays
		n, head := length(src, 2<<(b-0xDC))
		return head, n, 0
	case 0xDE, 0xDF: // maps
		n, head := length(src, 2<<(b-0xDE))
		return head, 2 * n, 0
	}
	return 0, 0, 0
}

// length reads the length n, which has the given number of bytes and comes after the first byte of src. head is
// the number of bytes up to its end; 0 if src is too short.
func length(src []byte, bytes int) (n uint64, head int) {
	if len(src) < 1+bytes {
		return 0, 0
	}
	var buf [8]byte
	copy(buf[8-bytes:], src[1:1+bytes])
	return binary.BigEndian.Uint64(buf[:]), 1 + bytes
}
