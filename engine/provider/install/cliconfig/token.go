package cliconfig

import (
	"strings"

	svchost "github.com/hashicorp/terraform-svchost"

	"github.com/lockstep-iac/lockstep/engine/hosts"
)

// TokenVariable is the prefix of environment variables with tokens of hosts.
const TokenVariable = "TF_TOKEN_"

// Tokens returns the values of the variables TF_TOKEN_HOST by host. Hosts have the form of [addrs.Provider].
// In the variable's name, a dot of the host is written as an underscore, and a dash as two underscores or as
// a dash; see
// https://developer.hashicorp.com/terraform/cli/config/config-file#environment-variable-credentials.
func Tokens(environ []string) map[string]hosts.Token {
	tokens := map[string]hosts.Token{}
	for _, entry := range environ { // the last of several entries counts, as in getenv
		name, text, _ := strings.Cut(entry, "=")
		encoded, ok := strings.CutPrefix(name, TokenVariable)
		if !ok || encoded == "" || text == "" {
			continue
		}
		encoded = strings.ReplaceAll(strings.ReplaceAll(encoded, "__", "-"), "_", ".")
		// A variable may have the ASCII form of a host name, which is not allowed elsewhere.
		host, err := svchost.ForComparison(svchost.ForDisplay(encoded))
		if err != nil {
			continue // another program's variable, perhaps
		}
		tokens[string(host)] = hosts.NewToken(text)
	}
	return tokens
}
