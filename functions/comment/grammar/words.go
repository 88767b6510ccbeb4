package grammar

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// A word is a word of a line. text does not contain the quotes around the word, or around its value after "=".
type word struct {
	text string
	// quoted is set if the word was in quotes. Such a word is never an option.
	quoted bool
	// enclosed is set if the word is like NAME="VALUE": only the part after "=" is in quotes.
	enclosed bool
}

// quotes are the opening quotes that keep a word together, each with its closing quote. There is no escape
// character. A quote closes the word only before a space, or at the end of the line. There, a punctuation mark
// may follow the quote.
var quotes = map[rune]rune{'"': '"', '\'': '\'', '`': '`', '“': '”', '‘': '’'}

// sentenceEnds are the punctuation marks that a person may write after a command, as at the end of a sentence.
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

// enclosed returns the text of s up to the closing quote end. rest is the text after that quote, without a
// punctuation mark at the end of the line. ok is false if the quote is not closed.
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

// plain reads a word that does not begin with a quote. The word ends at a space. A space in quotes after "=",
// or in an instance key such as a["x y"], does not end it.
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

// quoted returns an option with its value as people must type it. The value gets quotes if it would not be read
// as one word without them. If flag is "", the result is an argument. It also gets quotes if it begins with a
// dash, because it would be read as an option.
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

// name returns a name as people must type it in a command. If the name ends with a dot, it is in quotes: the
// dot would be read as the end of a sentence.
func name(s string) string {
	if strings.HasSuffix(s, ".") && s != "." {
		return `"` + s + `"`
	}
	return s
}

// always returns s in quotes. It uses the first kind of quote that s does not contain before a space.
func always(s string) string {
	for _, q := range [][2]string{{`"`, `"`}, {"'", "'"}, {"`", "`"}} {
		if !ends(s, q[1]) {
			return q[0] + s + q[1]
		}
	}
	return "“" + s + "”"
}

// writable reports whether a value can be written in quotes. That is so if the value does not contain every
// kind of quote before a space.
func writable(s string) bool {
	return !ends(s, `"`) || !ends(s, "'") || !ends(s, "`") || !ends(s, "”")
}

// ends reports whether s contains the quote before a space. In s, such a quote would end a quoted word.
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

// unprintable reports whether s has characters that deceive a reader: control characters, which are invisible,
// and characters that change the direction of the text.
func unprintable(s string) bool {
	return !utf8.ValidString(s) || strings.ContainsFunc(s, func(r rune) bool {
		return !unicode.IsSpace(r) && (unicode.IsControl(r) || unicode.Is(unicode.Cf, r)) || r == '\u2028' || r == '\u2029' || r == utf8.RuneError
	})
}
