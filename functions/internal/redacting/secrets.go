package redacting

import (
	"slices"
	"strings"
	"sync"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// Hidden is the text in place of a secret.
const Hidden = "(sensitive value)"

// shortestText is the smallest length of a secret text that is removed, in visible bytes. Shorter texts are
// parts of many words. Removing them from these words would reveal them.
const shortestText = 5

// Secrets are the values to remove. The zero value is empty and ready to use. One goroutine adds values; after
// that, many goroutines can call [Secrets.From].
type Secrets struct {
	texts   map[string]bool // reduced
	solid   map[string]bool // short secrets without blank space
	numbers map[string]bool // normal forms, see number
	encoded map[string]bool
	keys    map[string]bool
	known   map[string]bool

	once  sync.Once
	index *index
}

// Text adds a text. It is removed as a whole, and each of its lines is also removed, because a diff shows
// single lines.
func (s *Secrets) Text(text string) {
	s.init()
	if isNumber(text) {
		s.Number(text)
		return
	}
	s.whole(text)
	for line := range strings.Lines(text) {
		s.whole(strings.TrimSpace(line))
	}
}

// whole adds a text that is removed as a whole, in different forms.
func (s *Secrets) whole(text string) {
	if !usable(text) || s.encoded[text] {
		return
	}
	s.encoded[text] = true
	for _, t := range []string{text, norm.NFC.String(text), strings.ToUpper(text), strings.ToLower(text), title(text)} {
		for _, reduced := range []string{reduce(t), reduceAll(t)} {
			if len(reduced) < shortestText || isVocabulary(reduced) {
				continue
			}
			s.texts[reduced] = true
			if len(reduced) < longSolid && !strings.ContainsFunc(t, unicode.IsSpace) {
				s.solid[reduced] = true
			}
		}
	}
}

// title returns a text in which each word begins with a capital letter, as Terraform's function title does.
func title(text string) string {
	before := ' '
	return strings.Map(func(r rune) rune {
		first := !unicode.IsLetter(before) && !unicode.IsDigit(before) && before != '_' && before != '\''
		if before = r; first {
			return unicode.ToTitle(r)
		}
		return r
	}, text)
}

// usable reports whether a text can be removed as a secret. Blank texts and rows of dashes or backticks cannot,
// because Markdown needs them.
func usable(text string) bool {
	text = strings.TrimSpace(text)
	if len(text) < shortestText {
		return false
	}
	first, _ := firstRune(text)
	return unicode.IsLetter(first) || unicode.IsDigit(first) || strings.Trim(text, string(first)) != ""
}

func firstRune(s string) (rune, bool) {
	for _, r := range s {
		return r, true
	}
	return 0, false
}

// Number adds a decimal number, which is then removed in every spelling. Numbers with fewer than
// [shortestNumber] digits are ignored.
func (s *Secrets) Number(decimal string) {
	s.init()
	n, ok := parseNumber(decimal)
	if !ok || n.digits() < shortestNumber {
		return
	}
	s.numbers[n.String()] = true
	plain := strings.TrimLeft(decimal, "+-")
	if len(plain) >= longNumber && strings.Trim(plain, "0123456789") == "" {
		s.texts[plain], s.solid[plain] = true, true
	}
	if len(plain) >= shortestText {
		s.encoded[plain] = true
	}
}

// Key adds a key of a secret map. Keys are often ordinary words, such as "username", so they are removed only
// as whole words. A key for which [Secrets.Known] was called is not removed.
func (s *Secrets) Key(name string) {
	s.init()
	if isNumber(name) {
		s.Number(name)
	} else if usable(name) {
		s.keys[name] = true
	}
}

// Keys returns the keys that were added with [Secrets.Key].
func (s *Secrets) Keys() []string {
	var out []string
	for k := range s.keys {
		out = append(out, k)
	}
	slices.Sort(out)
	return out
}

// Known declares that a key of a map is no secret, because everybody can read it elsewhere.
func (s *Secrets) Known(name string) {
	s.init()
	s.known[name] = true
}

func (s *Secrets) init() {
	if s.texts == nil {
		s.texts, s.solid, s.numbers, s.encoded, s.keys, s.known = map[string]bool{}, map[string]bool{}, map[string]bool{}, map[string]bool{}, map[string]bool{}, map[string]bool{}
	}
}

// From returns a text with [Hidden] in place of each secret.
func (s *Secrets) From(text string) string {
	if len(s.texts)+len(s.numbers)+len(s.keys) == 0 {
		return text
	}
	s.once.Do(func() { s.index = s.build() })
	return without(text, s.found(text))
}

// build makes the index of all secrets. A part of a secret is found in plain text, but not reliably in base64
// or hexadecimal.
func (s *Secrets) build() *index {
	x := newIndex()
	for text := range s.texts {
		x.add(text, kindOf(s.solid[text], false), true)
	}
	for text := range s.encoded {
		for _, form := range encodings(text) {
			x.add(form, anywhere, false)
		}
	}
	for key := range s.keys {
		if reduced := reduceAll(key); !s.known[key] && len(reduced) >= shortestText && !s.texts[reduced] && !isVocabulary(reduced) {
			x.add(reduced, kindOf(true, true), true)
		}
	}
	return x
}
