package redacting

import (
	"html"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// How often a text is decoded at most: JSON in JSON in a plan.
const mostDecoded = 3

// A step decodes one way of writing; it reports whether there was anything to decode.
type step func(stream) (stream, bool)

// decoded returns a text in all the ways in which it can be read: as it is, and without
// one, two or three layers of backslashes; and each of these also without the escapes of
// templates, of HTML or of URLs. Not all at once: what is an escape to one of them is
// plain text to another one.
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

// each copies a stream; where there is one of at most two signs and decode, which is shown the characters from a place on, says
// that they are an escape of a size, there stands what it means.
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

// longestEscape is that of a character in UTF-16, or in four bytes of a URL.
const longestEscape = 12

// unescaped decodes what string literals of HCL, JSON and Go escape by a backslash.
// Sources: https://www.rfc-editor.org/rfc/rfc8259#section-7, https://go.dev/ref/spec#Rune_literals
func unescaped(s stream) (stream, bool) { return s.each(`\`, escape) }

// untemplated decodes what HCL doubles so that it begins no template.
// Source: https://github.com/hashicorp/hcl/blob/main/hclsyntax/spec.md#template-expressions
func untemplated(s stream) (stream, bool) {
	return s.each("$%", func(text string) (string, int) {
		if strings.HasPrefix(text, "$${") || strings.HasPrefix(text, "%%{") {
			return text[1:3], 3
		}
		return "", 0
	})
}

// unreferenced decodes HTML.
func unreferenced(s stream) (stream, bool) { return s.each("&", entity) }

// pathDecoded decodes a URL, queryDecoded also the spaces of its query.
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

// escapes of one letter.
var escapes = map[byte]string{'n': "\n", 'r': "\r", 't': "\t", 'a': "\a", 'b': "\b", 'f': "\f", 'v': "\v", '"': `"`, '\\': `\`, '/': "/", '\'': "'", '`': "`"}

// escape decodes the escape that a text begins with; the size, in characters, is 0 if it
// is none.
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

// entity decodes the character reference of HTML that a text begins with.
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

// percent decodes a character of one to four bytes in a URL.
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
