package executor

import (
	"strings"

	"github.com/lockstep-iac/lockstep/engine/config"
	"github.com/lockstep-iac/lockstep/engine/diags"
)

// withoutSecrets returns an error for each sensitive variable that gets its value from a comment, because
// people can read comments.
func withoutSecrets(root *config.Content, variables []string) diags.Diagnostics {
	var ds diags.Diagnostics
	for _, given := range variables {
		name, _, _ := strings.Cut(given, "=")
		if v := root.Variables[name]; v != nil && (v.Sensitive || v.Ephemeral) {
			ds = append(ds, diags.Errorf(&v.Range, "A secret in a comment",
				"The variable %q is declared as sensitive or ephemeral, and -var has given it a value in a comment, which everybody reads. If that value is a secret, replace it where it comes from, and have the configuration read it from there.", name)...)
		}
	}
	return ds
}
