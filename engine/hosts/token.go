package hosts

import (
	"fmt"
	"io"
)

// A Token is a secret that identifies Lockstep to a host. All of fmt's verbs, and JSON, show a placeholder
// for it.
type Token struct {
	// secret is a pointer, so that no verb of fmt shows the text: for an unexported field, fmt calls no String
	// method, but it prints only the address of a pointer.
	secret *string
}

// NewToken wraps a secret.
func NewToken(secret string) Token { return Token{&secret} }

// Reveal returns the secret, for the request that needs it.
func (t Token) Reveal() string {
	if t.secret == nil {
		return ""
	}
	return *t.secret
}

const hidden = "(secret)"

// String returns a placeholder.
func (t Token) String() string { return hidden }

// Format writes a placeholder for every verb.
func (t Token) Format(f fmt.State, verb rune) { _, _ = io.WriteString(f, hidden) }

// MarshalText returns a placeholder.
func (t Token) MarshalText() ([]byte, error) { return []byte(hidden), nil }
