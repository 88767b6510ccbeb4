package formats

import (
	"encoding/json"
	"strconv"
	"unicode/utf8"
)

// A jsonWriter writes JSON. It adds the commas itself; callers must only nest properly. Plans of many
// thousand instances are written this way because encoding/json would need a tree of maps first.
type jsonWriter struct{ b []byte }

// A span is a part of a text, as two offsets.
type span struct{ from, to int }

// repeat writes a span of the text once more.
func (t *jsonWriter) repeat(s span) {
	t.next()
	t.b = append(t.b, t.b[s.from:s.to]...)
}

// since returns the span of the text from offset n to the end, without a leading comma.
func (t *jsonWriter) since(n int) span {
	if n < len(t.b) && t.b[n] == ',' {
		n++
	}
	return span{n, len(t.b)}
}

// next writes a comma, unless the next element or member is the first one.
func (t *jsonWriter) next() {
	if n := len(t.b); n > 0 {
		switch t.b[n-1] {
		case '{', '[', ':':
		default:
			t.b = append(t.b, ',')
		}
	}
}

func (t *jsonWriter) openObject()  { t.next(); t.b = append(t.b, '{') }
func (t *jsonWriter) closeObject() { t.b = append(t.b, '}') }
func (t *jsonWriter) openArray()   { t.next(); t.b = append(t.b, '[') }
func (t *jsonWriter) closeArray()  { t.b = append(t.b, ']') }

// key starts a member. The caller must then write its value.
func (t *jsonWriter) key(name string) {
	t.next()
	t.b = append(appendString(t.b, name), ':')
}

func (t *jsonWriter) string(s string)    { t.next(); t.b = appendString(t.b, s) }
func (t *jsonWriter) bool(x bool)        { t.next(); t.b = strconv.AppendBool(t.b, x) }
func (t *jsonWriter) int(n int64)        { t.next(); t.b = strconv.AppendInt(t.b, n, 10) }
func (t *jsonWriter) raw(text []byte)    { t.next(); t.b = append(t.b, text...) }
func (t *jsonWriter) rawString(s string) { t.next(); t.b = append(t.b, s...) }

// member writes a member with a string value.
func (t *jsonWriter) member(name, value string) {
	t.key(name)
	t.string(value)
}

// optional writes a member unless its value is "".
func (t *jsonWriter) optional(name, value string) {
	if value != "" {
		t.member(name, value)
	}
}

// flag writes a member with a boolean value.
func (t *jsonWriter) flag(name string, value bool) {
	t.key(name)
	t.bool(value)
}

// marshal writes v as encoding/json does.
func (t *jsonWriter) marshal(v any) error {
	text, err := json.Marshal(v)
	if err != nil {
		return err
	}
	t.raw(text)
	return nil
}

// appendString appends s quoted as encoding/json does it.
func appendString(dst []byte, s string) []byte {
	for i := 0; i < len(s); i++ {
		if c := s[i]; c < ' ' || c >= utf8.RuneSelf || c == '"' || c == '\\' || c == '<' || c == '>' || c == '&' {
			text, err := json.Marshal(s)
			if err != nil {
				panic("render: a string cannot be written as JSON: " + err.Error())
			}
			return append(dst, text...)
		}
	}
	dst = append(append(dst, '"'), s...)
	return append(dst, '"')
}
