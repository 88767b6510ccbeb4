package cliconfig

import (
	"fmt"
	"io"
	"strings"

	svchost "github.com/hashicorp/terraform-svchost"
)

// Token is a secret that a host knows us by. It cannot be printed by accident: all
// of fmt's verbs, and JSON, show a placeholder.
type Token struct {
	// A pointer, because fmt asks no methods of what lies in unexported fields of
	// something else, but follows no pointers there either.
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

// Format writes a placeholder, whatever the verb.
func (t Token) Format(f fmt.State, verb rune) { _, _ = io.WriteString(f, hidden) }

// MarshalText returns a placeholder.
func (t Token) MarshalText() ([]byte, error) { return []byte(hidden), nil }

// tokensFromEnvironment finds variables TF_TOKEN_HOST. In a host's name, a dot is
// written as an underscore, and a dash as two underscores or as it is; see
// https://developer.hashicorp.com/terraform/cli/config/config-file#environment-variable-credentials.
func tokensFromEnvironment(environ []string) map[string]Token {
	tokens := map[string]Token{}
	for _, entry := range environ { // the last of several wins, as for getenv
		name, secret, _ := strings.Cut(entry, "=")
		encoded, ok := strings.CutPrefix(name, "TF_TOKEN_")
		if !ok || encoded == "" || secret == "" {
			continue
		}
		encoded = strings.ReplaceAll(strings.ReplaceAll(encoded, "__", "-"), "_", ".")
		// Variables may hold the ASCII form of a name, which is not to be typed elsewhere.
		host, err := svchost.ForComparison(svchost.ForDisplay(encoded))
		if err != nil {
			continue // another program's variable, perhaps
		}
		tokens[string(host)] = NewToken(secret)
	}
	return tokens
}
