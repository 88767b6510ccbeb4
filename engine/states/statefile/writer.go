package statefile

import (
	"encoding/json"
	"strconv"
	"unicode/utf8"

	"github.com/lockstep-iac/lockstep/engine/internal/jsonscan"
)

// A writer lays out JSON as encoding/json's MarshalIndent does with two spaces,
// which is how Terraform writes state files.
type writer struct {
	dst   []byte
	depth int
	empty bool // nothing is written yet after the last opening bracket
	flat  bool // write everything in one line
}

// text writes s unchanged.
func (w *writer) text(s string) { w.dst = append(w.dst, s...) }

func (w *writer) string(s string) { w.dst = appendString(w.dst, s) }

func (w *writer) open(bracket byte) {
	w.dst = append(w.dst, bracket)
	w.depth++
	w.empty = true
}

func (w *writer) close(bracket byte) {
	w.depth--
	if !w.empty {
		w.line()
	}
	w.empty = false
	w.dst = append(w.dst, bracket)
}

// element starts the next element of a list.
func (w *writer) element() {
	if !w.empty {
		w.dst = append(w.dst, ',')
	}
	w.empty = false
	w.line()
}

// member starts the next member of an object.
func (w *writer) member(name string) {
	w.element()
	w.string(name)
	w.colon()
}

func (w *writer) colon() {
	w.dst = append(w.dst, ':')
	if !w.flat {
		w.dst = append(w.dst, ' ')
	}
}

func (w *writer) stringMember(name, value string) {
	w.member(name)
	w.string(value)
}

func (w *writer) intMember(name string, value int64) {
	w.member(name)
	w.dst = strconv.AppendInt(w.dst, value, 10)
}

// spaces is a newline followed by enough indentation for nearly all lines.
const spaces = "\n                                                                "

func (w *writer) line() {
	if w.flat {
		return
	}
	n := 1 + 2*w.depth
	w.dst = append(w.dst, spaces[:min(n, len(spaces))]...)
	for n -= len(spaces); n > 0; n-- {
		w.dst = append(w.dst, ' ')
	}
}

// json writes a JSON value in the layout of the current place. Names, numbers and strings keep their
// spelling, except that <, >, & and the line separators of JavaScript are escaped, as encoding/json does.
func (w *writer) json(raw []byte) error {
	c := copier{jsonscan.New(raw), w}
	if err := c.value(); err != nil {
		return err
	}
	return c.End()
}

// A copier copies a JSON value while it scans it.
type copier struct {
	jsonscan.Scanner
	w *writer
}

func (c *copier) value() error {
	switch c.Next() {
	case '{':
		return c.object()
	case '[':
		return c.array()
	}
	start := c.Pos()
	if err := c.Skip(); err != nil {
		return err
	}
	c.w.dst = appendEscaped(c.w.dst, c.Src(start, c.Pos()))
	return nil
}

func (c *copier) object() error {
	c.w.open('{')
	err := c.Members(func(start, end int) error {
		c.w.element()
		c.w.dst = appendEscaped(c.w.dst, c.Src(start, end))
		c.w.colon()
		return c.value()
	})
	c.w.close('}')
	return err
}

func (c *copier) array() error {
	c.w.open('[')
	err := c.Array(func() error {
		c.w.element()
		return c.value()
	})
	c.w.close(']')
	return err
}

// appendEscaped appends JSON text that has no white space. It escapes the characters that [writer.json]
// escapes.
func appendEscaped(dst, src []byte) []byte {
	start := 0
	for i := 0; i < len(src); i++ {
		switch b := src[i]; {
		case b == '<' || b == '>' || b == '&':
			dst = append(dst, src[start:i]...)
			dst = append(dst, `\u00`...)
			dst = append(dst, hex[b>>4], hex[b&15])
			start = i + 1
		case b == 0xE2 && i+2 < len(src) && src[i+1] == 0x80 && src[i+2]&^1 == 0xA8:
			dst = append(dst, src[start:i]...)
			dst = append(dst, `\u202`...)
			dst = append(dst, hex[src[i+2]&15])
			start = i + 3
			i += 2
		}
	}
	return append(dst, src[start:]...)
}

const hex = "0123456789abcdef"

// appendString appends s as encoding/json writes it.
func appendString(dst []byte, s string) []byte {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c == '"' || c == '\\' || c == '<' || c == '>' || c == '&' || c >= utf8.RuneSelf || c == 0x7F {
			b, err := json.Marshal(s)
			if err != nil {
				panic("statefile: a string that encoding/json refuses: " + err.Error())
			}
			return append(dst, b...)
		}
	}
	dst = append(dst, '"')
	dst = append(dst, s...)
	return append(dst, '"')
}
