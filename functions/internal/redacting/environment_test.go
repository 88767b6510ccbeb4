package redacting

import (
	"strings"
	"testing"
)

// TestSecretsIn is a table of environments.
func TestSecretsIn(t *testing.T) {
	t.Parallel()
	got := SecretsIn([]string{"AWS_ACCESS_KEY_ID=a", "AWS_SECRET_ACCESS_KEY=b", "AWS_SESSION_TOKEN=c=d", "AWS_REGION=eu-central-1", "github_token=e", "DB_PASSWORD=f", "PATH=/bin", "EMPTY_SECRET=", "odd"})
	if s := strings.Join(got, " "); s != "a b c=d e f" {
		t.Error(s)
	}
}
