package toolresults

import (
	"strconv"
	"strings"

	"github.com/lockstep-iac/lockstep/functions/internal/lazyregexp"
)

// A message is a message of SARIF: a text, or the ID of a text of the rule. Arguments replace {0}, {1} and so on.
type message struct {
	text, id  string
	arguments []string
}

// messageOf reads a message.
func messageOf(w *walker) (m message) {
	markdown := ""
	w.object(func(key string) {
		switch key {
		case "text":
			m.text = w.text()
		case "markdown":
			markdown = w.text()
		case "id":
			m.id = w.text()
		case "arguments":
			m.arguments = w.texts(maxArguments)
		default:
			w.skip()
		}
	})
	if m.text == "" && m.id == "" {
		m.text = markdown
	}
	return m
}

// placeholder matches {0}, and doubled brackets, which stand for single ones.
var placeholder = lazyregexp.New(`\{[0-9]{1,3}\}|\{\{|\}\}`)

// fill returns the text of the message, with its arguments. texts are those of the rule. A text that becomes too long
// is replaced as a whole, because a part of it could contain half of a secret.
func (m message) fill(texts map[string]string) string {
	text := m.text
	if text == "" {
		text = texts[m.id]
	}
	if len(m.arguments) > 0 {
		var b strings.Builder
		at := 0
		for _, p := range placeholder.FindAllStringIndex(text, -1) {
			b.WriteString(text[at:p[0]])
			at = p[1]
			part := text[p[0]:p[1]]
			if n, err := strconv.Atoi(strings.Trim(part, "{}")); err != nil {
				part = part[:1]
			} else if n < len(m.arguments) {
				part = m.arguments[n]
			}
			b.WriteString(part)
			if b.Len() > maxFill {
				break
			}
		}
		b.WriteString(text[at:])
		text = b.String()
	}
	return short(text)
}

// short returns text, or a note in its place if it is too long.
func short(text string) string {
	if len(text) > maxFill {
		return "(the message is longer than " + strconv.Itoa(maxFill>>10) + " KB)"
	}
	return text
}
