package grammar

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// A word is a word of a line, without the quotes around it or around the value after its =.
type word struct {
	text string
	// quoted is set if the word was in quotes. Such a word is never an option.
	quoted bool
	// enclosed is set for a word such as NAME="VALUE", whose value is in quotes.
	enclosed bool
}

// quotes are the opening quotes that keep a word together, each with its closing quote. There is no escape
// character. A quote closes the word only if a space or the end of the line follows it; at the end of the line,
// a punctuation mark may come in between.
var quotes = map[rune]rune{'"': '"', '\'': '\'', '`': '`', '“': '”', '‘': '’'}

// sentenceEnds are the punctuation marks that may follow a command, as if it were a sentence.
const sentenceEnds = ".!,;"

// withoutEnd returns a text without the single punctuation mark at its end, if it has one.
func withoutEnd(s string) string {
	if t := strings.TrimRight(s, sentenceEnds); len(s)-len(t) == 1 {
		return t
	}
	return s
}

// split splits a line into words. If a word begins with a quote that is never closed, open is the beginning
// of that word; otherwise "".
func split(line string) (words []word, open string) {
	for {
		line = strings.TrimLeftFunc(line, unicode.IsSpace)
		if line == "" {
			return words, ""
		}
		if first, n := utf8.DecodeRuneInString(line); quotes[first] != 0 {
			text, rest, ok := enclosed(line[n:], quotes[first])
			if !ok {
				return words, line
			}
			words = append(words, word{text: text, quoted: true})
			line = rest
			continue
		}
		var w word
		w, line = plain(line)
		words = append(words, w)
	}
}

// enclosed returns the text up to the closing quote end, and the text after it, rest. A punctuation mark
// between the quote and the end of the line is left out of rest. ok is false if the quote is not closed.
func enclosed(s string, end rune) (text, rest string, ok bool) {
	for i, r := range s {
		after := i + utf8.RuneLen(r)
		if r != end {
			continue
		}
		rest = s[min(after, len(s)):]
		if next, _ := utf8.DecodeRuneInString(rest); withoutEnd(rest) == "" || unicode.IsSpace(next) {
			return s[:i], strings.TrimLeft(rest, sentenceEnds), true
		}
	}
	return "", s, false
}

// plain reads a word that does not begin with a quote. The word ends at a space, but not at a space in quotes
// after =, or in an instance key: a["x y"].
func plain(s string) (w word, rest string) {
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		switch {
		case unicode.IsSpace(r):
			return word{text: s[:i]}, s[i:]
		case strings.HasPrefix(s[i:], `["`):
			if key := strings.IndexByte(s[i+2:], '"'); key >= 0 && strings.HasPrefix(s[i+2+key:], `"]`) {
				n = len(`[""]`) + key
			}
		case r == '=':
			first, m := utf8.DecodeRuneInString(s[i+1:])
			if quotes[first] == 0 {
				break
			}
			if value, rest, ok := enclosed(s[i+1+m:], quotes[first]); ok {
				return word{text: s[:i+1] + value, enclosed: true}, rest
			}
		}
		i += n
	}
	return word{text: s}, ""
}

// quoted returns an option and its value, in quotes if they need them, so that they are read as one word again.
// If flag is "", a value that begins with a dash is quoted, too, so that it is not read as an option.
func quoted(flag, value string) string {
	if flag == "" && strings.TrimLeft(value, "-—–") != value {
		return always(value)
	}
	if !strings.ContainsFunc(value, func(r rune) bool { return special(r) || unicode.IsSpace(r) }) || isAddress(value) == "" {
		return flag + value
	}
	return flag + always(value)
}

// special reports whether a character is an opening or a closing quote.
func special(r rune) bool { return strings.ContainsRune("\"'`“”‘’", r) }

// name returns a name as it has to be typed: in quotes if it ends with a dot, which would be read as the end of
// a sentence.
func name(s string) string {
	if strings.HasSuffix(s, ".") && s != "." {
		return `"` + s + `"`
	}
	return s
}

// always returns a text in quotes. It uses the first kind of quote that does not occur before a space in the
// text.
func always(s string) string {
	for _, q := range [][2]string{{`"`, `"`}, {"'", "'"}, {"`", "`"}} {
		if !ends(s, q[1]) {
			return q[0] + s + q[1]
		}
	}
	return "“" + s + "”"
}

// writable reports whether a value can be written in quotes: at least one kind of quote does not occur before a
// space in it.
func writable(s string) bool {
	return !ends(s, `"`) || !ends(s, "'") || !ends(s, "`") || !ends(s, "”")
}

// ends reports whether a text has a quote before a space.
func ends(s, quote string) bool {
	for _, rest := range strings.Split(s, quote)[1:] {
		if next, _ := utf8.DecodeRuneInString(rest); rest != "" && unicode.IsSpace(next) {
			return true
		}
	}
	return false
}

// visible returns a text without characters that a reader does not see.
func visible(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.Is(unicode.Cf, r) {
			return -1
		}
		return r
	}, s)
}

// unprintable reports whether a text has characters that a reader does not see, or sees in another place:
// control characters, and characters that change the direction of the text.
func unprintable(s string) bool {
	return !utf8.ValidString(s) || strings.ContainsFunc(s, func(r rune) bool {
		return !unicode.IsSpace(r) && (unicode.IsControl(r) || unicode.Is(unicode.Cf, r)) || r == '\u2028' || r == '\u2029' || r == utf8.RuneError
	})
}
