package encryption

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
)

// KMSClient makes the calls of AWS KMS.
type KMSClient interface {
	// GenerateDataKey returns a new key twice: in clear, and encrypted with the KMS key keyID. spec is
	// AES_128 or AES_256.
	GenerateDataKey(ctx context.Context, keyID, spec string) (plain, encrypted []byte, err error)
	// Decrypt decrypts a key that GenerateDataKey returned encrypted.
	Decrypt(ctx context.Context, keyID string, encrypted []byte) (plain []byte, err error)
}

// KMS is a [Source] whose keys AWS KMS creates.
type KMS struct {
	KeyID string
	Spec  string // of the key: "AES_256" or "AES_128"
	// Open connects to KMS. It is called at the first use.
	Open func(context.Context) (KMSClient, error)
}

// Check returns an error if the settings are not complete. The error says what to do.
func (k KMS) Check() error {
	switch {
	case k.KeyID == "":
		return errors.New("it names no kms_key_id: set the ID, the ARN or the alias of a key")
	case k.Spec != "AES_256" && k.Spec != "AES_128":
		return fmt.Errorf("key_spec is %q: set \"AES_256\" or \"AES_128\"", k.Spec)
	}
	return nil
}

// kmsMeta is the JSON of the metadata.
type kmsMeta struct {
	Encrypted []byte `json:"ciphertext_blob"`
}

// Generate implements Source: it asks KMS for a new key.
func (k KMS) Generate(ctx context.Context, _ []byte) (key, meta []byte, err error) {
	c, err := k.Open(ctx)
	if err != nil {
		return nil, nil, err
	}
	var m kmsMeta
	if key, m.Encrypted, err = c.GenerateDataKey(ctx, k.KeyID, k.Spec); err != nil {
		return nil, nil, fmt.Errorf("make a key with the KMS key %s: %w", k.KeyID, err)
	}
	meta, err = json.Marshal(m)
	return key, meta, err
}

// Restore implements Source: it lets KMS decrypt the key in meta.
func (k KMS) Restore(ctx context.Context, _, meta []byte) ([]byte, error) {
	var m kmsMeta
	if err := json.Unmarshal(meta, &m); err != nil || len(m.Encrypted) == 0 {
		return nil, errors.New("its metadata in the file have no encrypted key: the file was edited")
	}
	c, err := k.Open(ctx)
	if err != nil {
		return nil, err
	}
	key, err := c.Decrypt(ctx, k.KeyID, m.Encrypted)
	if err != nil {
		return nil, fmt.Errorf("decrypt the key with the KMS key %s: %w", k.KeyID, err)
	}
	return key, nil
}
