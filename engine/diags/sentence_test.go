package diags

import (
	"errors"
	"testing"
)

// TestSentences holds that the text of an error becomes a sentence, and that a name at its beginning stays.
func TestSentences(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"put state: no":                   "Put state: no.",
		"unlock: it is gone.":             "Unlock: it is gone.",
		"well-known":                      "Well-known.",
		"http://127.0.0.1:80 is locked":   "http://127.0.0.1:80 is locked.",
		"s3://bucket/key: access denied":  "s3://bucket/key: access denied.",
		"terraform_data.a was not made":   "terraform_data.a was not made.",
		"main.tf: no such file":           "main.tf: no such file.",
		"/tmp/x: permission denied":       "/tmp/x: permission denied.",
		"x509: certificate is not signed": "x509: certificate is not signed.",
	} {
		if got := FromError("s", errors.New(text))[0].Detail; got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}
