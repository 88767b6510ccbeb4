package kms_test

import (
	"bytes"
	"errors"
	"slices"
	"testing"

	"github.com/lockstep-iac/lockstep/statebackend"
	"github.com/lockstep-iac/lockstep/statebackend/encryption"
	"github.com/lockstep-iac/lockstep/statebackend/kms"
	"github.com/lockstep-iac/lockstep/statebackend/kms/kmstest"
)

// open returns a client for the KMS at url.
func open(t *testing.T, url string) encryption.KMSClient {
	t.Helper()
	t.Setenv("AWS_ENDPOINT_URL_KMS", url)
	c, err := kms.Open(t.Context(), map[string]any{
		"region": "eu-central-1", "access_key": "a", "secret_key": "b", "skip_credentials_validation": true, "skip_requesting_account_id": true,
	})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestKMS(t *testing.T) {
	s := kmstest.Start(t, "")
	c := open(t, s.URL)
	for spec, size := range map[string]int{"AES_256": 32, "AES_128": 16} {
		plain, encrypted, err := c.GenerateDataKey(t.Context(), kmstest.KeyID, spec)
		if err != nil || len(plain) != size || bytes.Contains(encrypted, plain) {
			t.Errorf("%s: %d bytes, %x, %v", spec, len(plain), encrypted, err)
		}
		if got, err := c.Decrypt(t.Context(), kmstest.KeyID, encrypted); err != nil || !bytes.Equal(got, plain) {
			t.Errorf("%s: %x, %v", spec, got, err)
		}
	}
	if got := s.Asked(); len(got) != 4 || !slices.Contains(got, "Decrypt alias/states eu-central-1") {
		t.Errorf("%q", got)
	}
	if _, err := kms.Open(t.Context(), map[string]any{"region": "eu-central-1", "bucket_name": "x"}); err == nil {
		t.Error("an unknown argument is accepted")
	}
}

// TestRefusals holds what people read when KMS refuses.
func TestRefusals(t *testing.T) {
	s := kmstest.Start(t, "")
	c := open(t, s.URL)
	plain, encrypted, err := c.GenerateDataKey(t.Context(), kmstest.KeyID, "AES_256")
	if err != nil {
		t.Fatal(err)
	}
	edited := slices.Clone(encrypted)
	edited[len(edited)-1] ^= 1
	const foreign = "another KMS key has encrypted this data key, or it was changed (InvalidCiphertextException): set kms_key_id to the key that encrypted the state"
	without := open(t, s.Open)
	for name, call := range map[string]struct {
		client    encryption.KMSClient
		key       string
		encrypted []byte
		want      string
	}{
		"a key that the policy refuses": {c, kmstest.OtherKey, encrypted, "not authorized to perform: kms:Decrypt on this resource (allow kms:Decrypt on the key, in the role's policy or the key's)"},
		"a key of another alias":        {without, kmstest.OtherKey, encrypted, foreign},
		"an edited data key":            {without, kmstest.KeyID, edited, foreign},
		"no data key":                   {without, kmstest.KeyID, plain, foreign},
		"an alias that does not exist":  {without, "alias/none", encrypted, "NotFoundException: Alias arn:aws:kms:eu-central-1:111122223333:alias/none is not found."},
	} {
		got, err := call.client.Decrypt(t.Context(), call.key, call.encrypted)
		if got != nil || err == nil || err.Error() != call.want {
			t.Errorf("%s: %x, %v", name, got, err)
		}
		if denied := errors.Is(err, statebackend.ErrDenied); denied != (call.client == c) {
			t.Errorf("%s: denied is %v", name, denied)
		}
	}
}
