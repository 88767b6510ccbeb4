package comment

import (
	"strings"
	"time"
	"unicode"
)

// A LogLine is a message that a provider has logged at the level INFO or above. It has no fields: they have values of
// attributes.
type LogLine struct {
	At    time.Time
	Level string // "info", "warn" or "error"
	From  string // the part of the provider that has logged the message, as the provider names it; may be ""
	Text  string
}

// Limits of what people read of the logs of providers.
const (
	// MaxLogLines is the maximum number of lines in an [Ongoing]: the latest.
	MaxLogLines = 100
	// MaxLogText is the maximum length of the text of a line before secrets are removed, in bytes. A longer line is left
	// out: a part of it could be a part of a secret.
	MaxLogText = 2000

	maxLogText = 300
	maxLogFrom = 60
)

// SplitSecret is the text of all lines of a log, if a secret extends over several of them.
const SplitSecret = "(left out: a secret extends over several lines)"

// boundedLog returns the lines without secrets and control characters, and without everything that an honest
// process would not report.
func boundedLog(lines []LogLine, now time.Time, hide func(string) string) []LogLine {
	var out []LogLine
	var texts []string
	for _, l := range lines[max(0, len(lines)-MaxLogLines):] {
		if len(l.Text) > MaxLogText || l.Level != "info" && l.Level != "warn" && l.Level != "error" {
			continue
		}
		if l.At.After(now) {
			l.At = now
		}
		l.From = cutLog(onOneLine(hide(l.From)), maxLogFrom)
		out, texts = append(out, l), append(texts, onOneLine(l.Text))
	}
	hidden := strings.Split(hide(strings.Join(texts, "\n")), "\n")
	for i := range out {
		if len(hidden) == len(out) {
			out[i].Text = cutLog(hidden[i], maxLogText)
		} else {
			out[i].Text = SplitSecret
		}
	}
	return out
}

// onOneLine returns the text without control characters, and without characters that change the direction of text.
func onOneLine(text string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r):
			return ' '
		case unicode.IsControl(r), unicode.In(r, unicode.Cf):
			return -1
		}
		return r
	}, strings.ToValidUTF8(text, ""))
}

func cutLog(text string, most int) string {
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most-len("…")], "") + "…"
}

// String returns the line for people: the time, the level, the part of the provider, and the text.
func (l LogLine) String() string {
	from := ""
	if l.From != "" {
		from = l.From + ": "
	}
	return l.At.UTC().Format("15:04:05") + " " + strings.ToUpper(l.Level) + " " + from + l.Text
}
