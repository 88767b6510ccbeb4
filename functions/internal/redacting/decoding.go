package redacting

import (
	"html"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// mostDecoded is the maximum number of times that backslash escapes are decoded, because plans contain JSON in
// JSON.
const mostDecoded = 3

// A step decodes one kind of escapes in a stream. It also reports whether there were any.
type step func(stream) (stream, bool)

// decoded returns all readings of a text: the text itself, and the text after decoding backslash escapes once,
// twice or three times. For each of these, there are also readings with one more kind of escapes decoded: those
// of templates, HTML or URLs. Only one of these three kinds is decoded, because an escape of one kind is plain
// text in another.
func decoded(s stream) []stream {
	all := []stream{s}
	for range mostDecoded {
		next, changed := unescaped(s)
		if !changed {
			break
		}
		all = append(all, next)
		s = next
	}
	for _, s := range all {
		for _, do := range []step{untemplated, unreferenced, pathDecoded, queryDecoded} {
			next, changed := do(s)
			if !changed {
				continue
			}
			all = append(all, next)
			if again, changed := do(next); changed {
				all = append(all, again)
			}
		}
	}
	return all
}

// each returns a copy of a stream with decoded escapes. An escape begins with sign, which has one or two
// characters. decode returns the meaning of the escape at the beginning of text and the escape's size in
// characters; size 0 means that there is no escape. changed is false if there were no escapes.
func (s stream) each(sign string, decode func(text string) (meaning string, size int)) (out stream, changed bool) {
	signs := []rune(sign)
	isSign := func(r rune) bool { return r == signs[0] || r == signs[len(signs)-1] }
	if !slices.ContainsFunc(s.runes, isSign) {
		return s, false
	}
	out = stream{make([]rune, 0, len(s.runes)), make([]span, 0, len(s.runes))}
	for i := 0; i < len(s.runes); {
		meaning, size := "", 0
		if isSign(s.runes[i]) {
			meaning, size = decode(s.text(i, longestEscape))
		}
		if size == 0 {
			out.push(s.runes[i], s.at[i])
			i++
			continue
		}
		out.pushed(meaning, s, i, i+size)
		i += size
		changed = true
	}
	return out, changed
}

// longestEscape is the size of the longest escape, in characters: two UTF-16 units ("\ud83d\ude00"), or four
// bytes in a URL.
const longestEscape = 12

// unescaped decodes the backslash escapes of HCL, JSON and Go strings.
// Sources: https://www.rfc-editor.org/rfc/rfc8259#section-7, https://go.dev/ref/spec#Rune_literals
func unescaped(s stream) (stream, bool) { return s.each(`\`, escape) }

// untemplated decodes $${ and %%{, which in HCL mean a literal ${ and %{.
// Source: https://github.com/hashicorp/hcl/blob/main/hclsyntax/spec.md#template-expressions
func untemplated(s stream) (stream, bool) {
	return s.each("$%", func(text string) (string, int) {
		if strings.HasPrefix(text, "$${") || strings.HasPrefix(text, "%%{") {
			return text[1:3], 3
		}
		return "", 0
	})
}

// unreferenced decodes HTML character references, such as "&amp;".
func unreferenced(s stream) (stream, bool) { return s.each("&", entity) }

// pathDecoded decodes the percent escapes of a URL; queryDecoded also decodes "+" as a space.
// Source: https://www.rfc-editor.org/rfc/rfc3986#section-2.1
func pathDecoded(s stream) (stream, bool) { return s.each("%", percent) }

func queryDecoded(s stream) (stream, bool) {
	return s.each("%+", func(text string) (string, int) {
		if text[0] == '+' {
			return " ", 1
		}
		return percent(text)
	})
}

// escapes has the meanings of escapes that consist of a backslash and one more character.
var escapes = map[byte]string{'n': "\n", 'r': "\r", 't': "\t", 'a': "\a", 'b': "\b", 'f': "\f", 'v': "\v", '"': `"`, '\\': `\`, '/': "/", '\'': "'", '`': "`"}

// escape decodes the backslash escape at the beginning of text. It returns the character and the size of the
// escape in characters; 0 if there is none.
func escape(text string) (string, int) {
	if len(text) < 2 {
		return "", 0
	}
	if one, ok := escapes[text[1]]; ok {
		return one, 2
	}
	for _, form := range []struct {
		letter byte
		digits int
	}{{'u', 4}, {'U', 8}, {'x', 2}} {
		if text[1] != form.letter {
			continue
		}
		r, ok := hexadecimal(text[2:], form.digits)
		if !ok {
			return "", 0
		}
		if low, ok := hexadecimal(strings.TrimPrefix(text[2+form.digits:], `\u`), 4); utf16.IsSurrogate(r) && ok {
			return string(utf16.DecodeRune(r, low)), 12
		}
		return string(r), 2 + form.digits
	}
	return "", 0
}

func hexadecimal(text string, digits int) (rune, bool) {
	if len(text) < digits {
		return 0, false
	}
	n, err := strconv.ParseUint(text[:digits], 16, 32)
	return rune(n), err == nil
}

// entity decodes the HTML character reference at the beginning of text. It returns the character and the size
// of the reference in characters; 0 if there is none.
func entity(text string) (string, int) {
	end := strings.IndexByte(text, ';')
	if end < 2 || strings.Trim(text[1:end], "#0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz") != "" {
		return "", 0
	}
	if got := html.UnescapeString(text[:end+1]); got != text[:end+1] {
		return got, len([]rune(text[:end+1]))
	}
	return "", 0
}

// percent decodes the percent escapes of one character at the beginning of text: one to four bytes. It returns
// the character and the size of the escapes in characters; 0 if there are none.
func percent(text string) (string, int) {
	var bytes []byte
	for len(bytes) < utf8.UTFMax && strings.HasPrefix(text[3*len(bytes):], "%") {
		b, ok := hexadecimal(text[3*len(bytes)+1:], 2)
		if !ok {
			break
		}
		bytes = append(bytes, byte(b))
	}
	if len(bytes) == 0 {
		return "", 0
	}
	r, size := utf8.DecodeRune(bytes)
	return string(r), 3 * size
}
