package github

import (
	"crypto/hkdf"
	"crypto/sha256"
	"encoding/json"
	"errors"
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

// Field returns a text in a secret that is a JSON object; an empty Secret if the object has no such text. The error does
// not quote the secret.
func (s Secret) Field(name string) (Secret, error) {
	var object map[string]json.RawMessage
	if err := json.Unmarshal([]byte(s.reveal()), &object); err != nil {
		return Secret{}, errors.New("it is not a JSON object")
	}
	var text string
	if raw, ok := object[name]; ok && json.Unmarshal(raw, &text) != nil {
		return Secret{}, fmt.Errorf("its %s is not a text", name)
	}
	return NewSecret(strings.TrimSpace(text)), nil
}

// Len returns the length of the text in bytes.
func (s Secret) Len() int { return len(s.reveal()) }

// DeriveKey returns a key of 32 bytes for a purpose, from which nobody can conclude the secret or the key for another
// purpose: HKDF with SHA-256.
func (s Secret) DeriveKey(purpose string) []byte {
	key, err := hkdf.Key(sha256.New, []byte(s.reveal()), nil, purpose, 32)
	if err != nil {
		panic(err) // 32 bytes are possible
	}
	return key
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
