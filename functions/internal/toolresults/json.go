package toolresults

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// checkJSON returns an error for JSON that takes too much memory: deep nesting, and long numbers or texts. It does not
// check the syntax. Without this check, a decoder would first keep such a number as a whole.
func checkJSON(data []byte) error {
	depth, begin := 0, -1 // begin is the offset of the number or word
	for i := 0; i < len(data); i++ {
		switch c := data[i]; c {
		case '"':
			end := endOfText(data, i+1)
			if end-i > maxText {
				return fmt.Errorf("a text after byte %d is longer than %d MB", i, maxText>>20)
			}
			i, begin = end, -1
		case '{', '[':
			if depth++; depth > maxDepth {
				return fmt.Errorf("more than %d objects and lists are nested at byte %d", maxDepth, i)
			}
			begin = -1
		case '}', ']':
			depth--
			begin = -1
		case ',', ':', ' ', '\t', '\r', '\n':
			begin = -1
		default:
			if begin < 0 {
				begin = i
			}
			if i-begin >= maxNumber {
				return fmt.Errorf("a number or word at byte %d is longer than %d characters", begin, maxNumber)
			}
		}
	}
	return nil
}

// endOfText returns the offset of the quotation mark that ends the text at i, or the end of data.
func endOfText(data []byte, i int) int {
	for {
		n := bytes.IndexAny(data[i:], `"\`)
		if n < 0 {
			return len(data)
		}
		if i += n; data[i] == '"' {
			return i
		}
		if i += 2; i >= len(data) { // a backslash and the character after it
			return len(data)
		}
	}
}

// A walker reads JSON by its tokens, one value after another. Each of its methods reads one value. A value null counts
// as missing. After the first error, all methods do nothing.
type walker struct {
	data  []byte
	start int // offset of data in the output
	dec   *json.Decoder
	// path has the keys and indexes of the present value, for errors.
	path []any
	err  error
}

// errEnd is the error about JSON that ends too early.
var errEnd = errors.New("it ends in the middle, so the tool did not write all of it")

func newWalker(data []byte) *walker {
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	return &walker{data: data, dec: dec}
}

// failf sets the error, unless there is one. The error names the place of the present value.
func (w *walker) failf(format string, args ...any) {
	if w.err != nil {
		return
	}
	var b strings.Builder
	for i, x := range w.path {
		switch x := x.(type) {
		case int:
			fmt.Fprintf(&b, "[%d]", x)
		case string:
			if i > 0 {
				b.WriteString(".")
			}
			fmt.Fprintf(&b, "%.40s", x)
		}
	}
	if b.Len() > 0 {
		b.WriteString(": ")
	}
	w.err = fmt.Errorf("%s%w", b.String(), fmt.Errorf(format, args...))
}

// token returns the next token; nil for null, and after an error.
func (w *walker) token() json.Token {
	if w.err != nil {
		return nil
	}
	t, err := w.dec.Token()
	switch {
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		w.failf("%w", errEnd)
		return nil
	case err != nil:
		w.failf("%w at byte %d", err, w.start+int(w.dec.InputOffset()))
		return nil
	}
	return t
}

func (w *walker) more() bool { return w.err == nil && w.dec.More() }

// object reads an object. It calls read with each key. read must read one value. object reports whether there is an
// object.
func (w *walker) object(read func(key string)) bool {
	if !w.begins('{', "an object") {
		return false
	}
	for w.more() {
		key, _ := w.token().(string)
		if w.err != nil {
			return true
		}
		w.path = append(w.path, key)
		read(key)
		if w.err != nil {
			return true
		}
		w.path = w.path[:len(w.path)-1]
	}
	w.token()
	return true
}

// member reads an object in which only the member with the given name counts. The function read reads
// the value of this member.
func (w *walker) member(name string, read func()) {
	w.object(func(key string) {
		if key == name {
			read()
		} else {
			w.skip()
		}
	})
}

// list reads a list. It calls read for each element. read must read one value.
func (w *walker) list(read func(i int)) {
	if !w.begins('[', "a list") {
		return
	}
	for i := 0; w.more(); i++ {
		w.path = append(w.path, i)
		read(i)
		if w.err != nil {
			return
		}
		w.path = w.path[:len(w.path)-1]
	}
	w.token()
}

// begins reads the beginning of an object or a list. It reports whether there is one.
func (w *walker) begins(with json.Delim, noun string) bool {
	switch t := w.token(); t {
	case nil:
		return false
	case with:
		return true
	default:
		w.wrong(noun, t)
		return false
	}
}

// wrong sets the error about a value of another type.
func (w *walker) wrong(noun string, t json.Token) {
	is := "a truth value"
	switch t := t.(type) {
	case string:
		is = "a text"
	case json.Number:
		is = "a number"
	case json.Delim:
		is = map[json.Delim]string{'{': "an object", '[': "a list"}[t]
	}
	w.failf("%s is expected, and this is %s", noun, is)
}

// text reads a text.
func (w *walker) text() string {
	t := w.token()
	s, ok := t.(string)
	if !ok && t != nil {
		w.wrong("a text", t)
	}
	return s
}

// texts reads the first n texts of a list.
func (w *walker) texts(n int) (out []string) {
	w.list(func(i int) {
		if i < n {
			out = append(out, w.text())
		} else {
			w.skip()
		}
	})
	return out
}

// number reads a number, or a text with one. It returns "" for null.
func (w *walker) number() string {
	switch t := w.token().(type) {
	case json.Number:
		return string(t)
	case string:
		return t
	case nil:
	default:
		w.wrong("a number", t)
	}
	return ""
}

// natural reads an integer from 0 to 2³¹-1. It returns -1 for any other number.
func (w *walker) natural() int {
	n, err := strconv.ParseUint(w.number(), 10, 31)
	if err != nil {
		return -1
	}
	return int(n)
}

// amount reads an amount; nil for null.
func (w *walker) amount() *Amount {
	text := w.number()
	if text == "" {
		return nil
	}
	a, err := ParseAmount(text)
	if err != nil {
		w.failf("%w", err)
	}
	return &a
}

// skip reads a value of any kind.
func (w *walker) skip() {
	for depth := 0; ; {
		switch w.token() {
		case json.Delim('{'), json.Delim('['):
			depth++
		case json.Delim('}'), json.Delim(']'):
			depth--
		}
		if depth == 0 || w.err != nil {
			return
		}
	}
}

// later skips a value, and returns a walker that reads the value.
func (w *walker) later() *walker {
	from := w.dec.InputOffset()
	w.skip()
	if w.err != nil {
		return nil
	}
	value := bytes.TrimLeft(w.data[from:w.dec.InputOffset()], ": \t\r\n")
	x := newWalker(value)
	x.start = w.start + int(w.dec.InputOffset()) - len(value)
	x.path = append(x.path, w.path...)
	return x
}

// end reports an error if anything but blank space follows the value.
func (w *walker) end() {
	if _, err := w.dec.Token(); w.err == nil && !errors.Is(err, io.EOF) {
		w.failf("more text follows the JSON at byte %d: let the program write nothing else to its standard output", w.dec.InputOffset())
	}
}
