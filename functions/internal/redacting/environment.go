package redacting

import "strings"

// SecretsIn returns the values of environment variables whose names say that they are secret, such as
// AWS_SECRET_ACCESS_KEY.
func SecretsIn(environ []string) []string {
	var out []string
	for _, kv := range environ {
		name, value, _ := strings.Cut(kv, "=")
		name = strings.ToUpper(name)
		for _, word := range []string{"SECRET", "TOKEN", "PASSWORD", "PASSWD", "PRIVATE", "CREDENTIAL", "ACCESS_KEY", "API_KEY", "APIKEY"} {
			if value != "" && strings.Contains(name, word) {
				out = append(out, value)
				break
			}
		}
	}
	return out
}
