package kms

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/lockstep-iac/lockstep/statebackend"
)

// fake is a KMS with one key. Its ciphertext is the key with its letters in turn.
func fake(t *testing.T) (url string, asked *[]string) {
	asked = new([]string)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var in struct {
			KeyID          string `json:"KeyId"`
			KeySpec        string
			CiphertextBlob []byte
		}
		if err := json.NewDecoder(r.Body).Decode(&in); err != nil {
			t.Error(err)
		}
		target := strings.TrimPrefix(r.Header.Get("X-Amz-Target"), "TrentService.")
		*asked = append(*asked, target+" "+in.KeyID+in.KeySpec)
		w.Header().Set("Content-Type", "application/x-amz-json-1.1")
		if in.KeyID != "alias/state" {
			w.WriteHeader(http.StatusBadRequest)
			w.Write([]byte(`{"__type": "AccessDeniedException", "message": "not for you"}`))
			return
		}
		plain := []byte("0123456789abcdef0123456789ABCDEF")
		if target == "Decrypt" {
			plain = turned(in.CiphertextBlob)
		}
		json.NewEncoder(w).Encode(map[string]string{
			"KeyId": in.KeyID, "Plaintext": base64.StdEncoding.EncodeToString(plain), "CiphertextBlob": base64.StdEncoding.EncodeToString(turned(plain)),
		})
	}))
	t.Cleanup(s.Close)
	return s.URL, asked
}

func turned(b []byte) []byte {
	b = slices.Clone(b)
	slices.Reverse(b)
	return b
}

func TestKMS(t *testing.T) {
	url, asked := fake(t)
	t.Setenv("AWS_ENDPOINT_URL_KMS", url)
	c, err := Open(t.Context(), map[string]any{
		"region": "eu-central-1", "access_key": "a", "secret_key": "b", "skip_credentials_validation": true, "skip_requesting_account_id": true,
	})
	if err != nil {
		t.Fatal(err)
	}
	plain, encrypted, err := c.GenerateDataKey(t.Context(), "alias/state", "AES_256")
	if err != nil || len(plain) != 32 || string(encrypted) != string(turned(plain)) {
		t.Errorf("%s, %s, %v", plain, encrypted, err)
	}
	if got, err := c.Decrypt(t.Context(), "alias/state", encrypted); err != nil || string(got) != string(plain) {
		t.Errorf("%s, %v", got, err)
	}
	if _, err := c.Decrypt(t.Context(), "alias/other", encrypted); !errors.Is(err, statebackend.ErrDenied) || err.Error() != "not for you (allow kms:Decrypt on the key, in the role's policy or the key's)" {
		t.Errorf("%v", err)
	}
	if want := []string{"GenerateDataKey alias/stateAES_256", "Decrypt alias/state", "Decrypt alias/other"}; !slices.Equal(*asked, want) {
		t.Errorf("%q", *asked)
	}
	if _, err := Open(t.Context(), map[string]any{"region": "eu-central-1", "bucket_name": "x"}); err == nil {
		t.Error("an unknown argument is accepted")
	}
}
