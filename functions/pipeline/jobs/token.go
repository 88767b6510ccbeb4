package jobs

import "fmt"

// TokenRemedy returns a sentence to append to the error of a host that demands a token. It names the setting of
// lockstep.hcl for the token. variable is the name of the environment variable, TF_TOKEN_HOST.
func TokenRemedy(variable string) string {
	return fmt.Sprintf("name the secret with a token in the project's environment block of lockstep.hcl on the base branch: secrets = { %s = \"arn:aws:secretsmanager:...\" }", variable)
}
