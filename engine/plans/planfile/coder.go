package planfile

import (
	"encoding/binary"
	"errors"
)

// A coder either writes or reads the fields passed to it, so each wire type lists its fields once, for both
// directions. Numbers are varints, texts have their length before them, lists their number of elements.
type coder struct {
	buf     []byte // the bytes written so far, or left to read
	reading bool
	err     error // error of reading; after an error all fields are zero
}

// errCutOff is the error for a length beyond the end of the data.
var errCutOff = errors.New("its end is missing")

func (c *coder) uint(v *uint64) {
	if !c.reading {
		c.buf = binary.AppendUvarint(c.buf, *v)
		return
	}
	n, size := binary.Uvarint(c.buf)
	if size <= 0 || c.err != nil {
		*v = 0
		c.fail()
		return
	}
	*v, c.buf = n, c.buf[size:]
}

func (c *coder) fail() {
	if c.err == nil {
		c.err = errCutOff
	}
	c.buf = nil
}

func (c *coder) index(v *uint32) {
	n := uint64(*v)
	c.uint(&n)
	*v = uint32(n)
	if uint64(*v) != n {
		c.fail()
	}
}

func (c *coder) int(v *int) {
	n := uint64(int64(*v)<<1) ^ uint64(int64(*v)>>63) // zigzag: small if *v is close to 0
	c.uint(&n)
	*v = int(int64(n>>1) ^ -int64(n&1))
}

func (c *coder) bool(v *bool) {
	n := uint64(0)
	if *v {
		n = 1
	}
	c.uint(&n)
	*v = n == 1
	if n > 1 {
		c.fail()
	}
}

// octet writes or reads a one-byte constant of another package.
func octet[T ~byte](c *coder, v *T) {
	n := uint64(*v)
	c.uint(&n)
	*v = T(n)
	if n > 255 {
		c.fail()
	}
}

func text[T ~string](c *coder, v *T) {
	if !c.reading {
		n := uint64(len(*v))
		c.uint(&n)
		c.buf = append(c.buf, *v...)
		return
	}
	*v = T(c.take())
}

// take reads a length, and as many bytes.
func (c *coder) take() []byte {
	var n uint64
	c.uint(&n)
	if n > uint64(len(c.buf)) {
		c.fail()
		return nil
	}
	out := c.buf[:n:n]
	c.buf = c.buf[n:]
	return out
}

// bytes writes or reads bytes; nil and empty stay different. Bytes that are read are a part of the input, not
// a copy.
func (c *coder) bytes(v *[]byte) {
	present := *v != nil
	c.bool(&present)
	switch {
	case !present:
		*v = nil
	case c.reading:
		*v = c.take()
	default:
		n := uint64(len(*v))
		c.uint(&n)
		c.buf = append(c.buf, *v...)
	}
}

// list writes or reads a list; nil and empty stay different. The function element writes or reads one element.
func list[T any](c *coder, v *[]T, element func(*T, *coder)) {
	n := uint64(0)
	if *v != nil {
		n = uint64(len(*v)) + 1
	}
	c.uint(&n)
	if !c.reading {
		for i := range *v {
			element(&(*v)[i], c)
		}
		return
	}
	*v = nil
	if n == 0 {
		return
	}
	// Each element takes at least a byte.
	if n--; n > uint64(len(c.buf)) {
		c.fail()
		return
	}
	*v = make([]T, 0, min(n, 1<<12))
	for range n {
		var x T
		if element(&x, c); c.err != nil {
			return
		}
		*v = append(*v, x)
	}
}

// optional writes or reads a pointer that may be nil. The function content writes or reads the value that it
// points to.
func optional[T any](c *coder, v **T, content func(*T, *coder)) {
	present := *v != nil
	c.bool(&present)
	if !present {
		*v = nil
		return
	}
	if c.reading {
		*v = new(T)
	}
	content(*v, c)
}

func textElement(v *string, c *coder)  { text(c, v) }
func indexElement(v *uint32, c *coder) { c.index(v) }
