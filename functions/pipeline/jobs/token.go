package jobs

import "fmt"

// TokenRemedy returns a sentence to add to the error of a host that requires a token. It names the setting in
// lockstep.hcl for that. variable is the name of the environment variable with the token, TF_TOKEN_HOST.
func TokenRemedy(variable string) string {
	return fmt.Sprintf("name the secret with a token in the project's environment block of lockstep.hcl on the base branch: secrets = { %s = \"arn:aws:secretsmanager:...\" }", variable)
}
