package install

import (
	"strings"
	"testing"

	"github.com/lockstep-iac/lockstep/engine/provider/install/registrytest"
)

func TestVerifySignature(t *testing.T) {
	document := []byte("checksums")
	key, other, expired, revoked := registrytest.NewKey(t), registrytest.NewKey(t), registrytest.NewExpiredKey(t), registrytest.NewKey(t)
	byRevoked := revoked.Sign(document)
	revoked.Revoke()
	keys := func(keys ...*registrytest.Key) (found []signingKey) {
		for _, k := range keys {
			found = append(found, signingKey{k.Public()})
		}
		return found
	}
	for _, test := range []struct {
		name      string
		document  string
		signature []byte
		keys      []signingKey
		want      string // an authentication, or part of an error
	}{
		{"its key", "checksums", key.Sign(document), keys(key), "self-signed, key ID " + key.ID()},
		{"one of several keys", "checksums", key.Sign(document), keys(other, key), "self-signed, key ID " + key.ID()},
		{"a key that has expired since", "checksums", expired.Sign(document), keys(expired), "self-signed, key ID " + expired.ID()},
		{"a revoked key", "checksums", byRevoked, keys(revoked), "revoked"},
		{"another key", "checksums", key.Sign(document), keys(other), "signed by none of the 1 keys"},
		{"another document", "checksumz", key.Sign(document), keys(key), "signature"},
		{"no keys", "checksums", key.Sign(document), nil, "signed by none of the 0 keys"},
		{"no signature", "checksums", nil, keys(key), "signed by none"},
		{"nonsense", "checksums", []byte("nonsense"), keys(key), "openpgp"},
		{"a key that is none", "checksums", key.Sign(document), []signingKey{{"nonsense"}}, "signing key 1 of the registry"},
	} {
		auth, err := verifySignature([]byte(test.document), test.signature, test.keys)
		got := auth.String()
		if err != nil {
			got = err.Error()
			if auth != (Authentication{}) {
				t.Errorf("%s: an error, and %s", test.name, auth)
			}
		}
		if !strings.Contains(got, test.want) || strings.HasPrefix(test.want, "self-signed") != (err == nil) {
			t.Errorf("%s: got %s, want %s", test.name, got, test.want)
		}
	}
}

func TestParseChecksums(t *testing.T) {
	sum := strings.Repeat("aB", 32)
	got := parseChecksums([]byte(sum + "  a.zip\n" + sum + " *b.zip\n\n# comment\nabcd  short.zip\n" + sum + "  c d.zip\nxx" + sum[2:] + "  e.zip\n"))
	if len(got) != 2 || got["a.zip"] != strings.ToLower(sum) || got["b.zip"] != strings.ToLower(sum) {
		t.Errorf("got %v", got)
	}
}
