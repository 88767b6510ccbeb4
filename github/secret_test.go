package github

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"testing"
)

// TestASecretCannotBePrinted tries everything that prints, on a secret by itself and
// on values that have one inside, where printing by reflection sees private fields.
func TestASecretCannotBePrinted(t *testing.T) {
	const text = "s3cr3t-value"
	s := NewSecret(text)
	type holder struct {
		Public  Secret
		private Secret
		pointer *Secret
		list    []Secret
	}
	h := holder{s, s, &s, []Secret{s}}
	client := &tokens{token: s}
	values := map[string]any{"secret": s, "pointer": &s, "holder": h, "pointer to holder": &h, "tokens": client, "map": map[string]any{"k": s}}
	for name, v := range values {
		for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%X", "%d", "%T"} {
			got := fmt.Sprintf(verb, v)
			if strings.Contains(got, text) || strings.Contains(got, fmt.Sprintf("%x", text)) || strings.Contains(got, fmt.Sprintf("%X", text)) {
				t.Errorf("%s by %s: %s", name, verb, got)
			}
		}
		if data, err := json.Marshal(v); err == nil && bytes.Contains(data, []byte(text)) {
			t.Errorf("%s in JSON: %s", name, data)
		}
		var log bytes.Buffer
		slog.New(slog.NewTextHandler(&log, nil)).Info("x", "v", v)
		slog.New(slog.NewJSONHandler(&log, nil)).Info("x", "v", v)
		if strings.Contains(log.String(), text) {
			t.Errorf("%s in a log: %s", name, &log)
		}
	}
	if got := s.Redact("a " + text + " b"); got != "a [secret] b" {
		t.Errorf("Redact: %q", got)
	}
	if got := (Secret{}).Redact("ab"); got != "ab" {
		t.Errorf("Redact of the empty secret: %q", got)
	}
}
