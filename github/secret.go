package github

import (
	"fmt"
	"log/slog"
	"strings"
)

// A Secret is a text that cannot be printed, logged or marshalled. All three ways show "[secret]", even if the
// Secret is a field of another value. The zero Secret is empty.
type Secret struct {
	// text is a func, because packages that print by reflection show private fields without calling their
	// methods. For a func they show an address.
	text func() string
}

const hidden = "[secret]"

// NewSecret returns a Secret with the given text.
func NewSecret(text string) Secret { return Secret{func() string { return text }} }

func (s Secret) reveal() string {
	if s.text == nil {
		return ""
	}
	return s.text()
}

// FirstLine returns the first line of a secret. While the webhook's secret is being replaced, both secrets are
// stored, one a line.
func (s Secret) FirstLine() Secret {
	line, _, _ := strings.Cut(strings.TrimSpace(s.reveal()), "\n")
	return NewSecret(strings.TrimSpace(line))
}

// IsEmpty reports whether the text is "".
func (s Secret) IsEmpty() bool { return s.reveal() == "" }

// Redact returns text with "[secret]" in place of each occurrence of the secret.
func (s Secret) Redact(text string) string {
	if s.IsEmpty() {
		return text
	}
	return strings.ReplaceAll(text, s.reveal(), hidden)
}

// String implements fmt.Stringer.
func (s Secret) String() string { return hidden }

// Format implements fmt.Formatter, for all verbs.
func (s Secret) Format(f fmt.State, verb rune) { fmt.Fprint(f, hidden) }

// MarshalText implements encoding.TextMarshaler, and so json.Marshaler.
func (s Secret) MarshalText() ([]byte, error) { return []byte(hidden), nil }

// LogValue implements slog.LogValuer.
func (s Secret) LogValue() slog.Value { return slog.StringValue(hidden) }
