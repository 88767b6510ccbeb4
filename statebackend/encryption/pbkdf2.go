package encryption

import (
	"context"
	"crypto/pbkdf2"
	"crypto/rand"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
)

// PBKDF2 derives keys from a passphrase, or from the key of another provider.
type PBKDF2 struct {
	Passphrase string // "": the key of another provider is used
	KeyLength  int    // in bytes
	Iterations int
	Hash       string // "sha256" or "sha512"
	SaltLength int    // in bytes
}

// DefaultPBKDF2 returns the default settings, without a passphrase.
//
// Source: https://opentofu.org/docs/language/state/encryption/#pbkdf2
func DefaultPBKDF2() PBKDF2 {
	return PBKDF2{KeyLength: 32, Iterations: 600_000, Hash: "sha512", SaltLength: 32}
}

// These are OpenTofu's limits.
// Source: https://opentofu.org/docs/language/state/encryption/#pbkdf2
const (
	minPassphrase = 16 // bytes
	minIterations = 200_000
)

// These limits are Lockstep's own: a file that somebody has edited must not keep a process busy for hours.
const (
	maxIterations = 10_000_000
	maxLength     = 1 << 10 // of keys and salts, in bytes
)

var hashes = map[string]func() hash.Hash{"sha256": sha256.New, "sha512": sha512.New}

// Check returns an error if the settings make no safe keys. The error says what to do. chained reports that
// the secret is the key of another provider, so that no passphrase is needed.
func (p PBKDF2) Check(chained bool) error {
	switch {
	case chained && p.Passphrase != "":
		return errors.New("passphrase and chain exclude each other: set one of them")
	case !chained && p.Passphrase == "":
		return fmt.Errorf("it has no passphrase: set one of at least %d characters, or chain another key provider", minPassphrase)
	case !chained && len(p.Passphrase) < minPassphrase:
		return fmt.Errorf("the passphrase is too short: set one of at least %d characters", minPassphrase)
	case p.KeyLength <= 0 || p.KeyLength > maxLength:
		return fmt.Errorf("key_length is %d: it must be at least 1 and at most %d bytes, and 16, 24 or 32 for aes_gcm", p.KeyLength, maxLength)
	case p.SaltLength <= 0 || p.SaltLength > maxLength:
		return fmt.Errorf("salt_length is %d: it must be at least 1 and at most %d bytes", p.SaltLength, maxLength)
	case p.Iterations < minIterations:
		return fmt.Errorf("iterations is %d, which is dangerously few: set at least %d", p.Iterations, minIterations)
	case hashes[p.Hash] == nil:
		return fmt.Errorf("hash_function is %q: set \"sha256\" or \"sha512\"", p.Hash)
	}
	return nil
}

// pbkdf2Meta is the JSON of the metadata.
type pbkdf2Meta struct {
	Salt       []byte `json:"salt"`
	Iterations int    `json:"iterations"`
	Hash       string `json:"hash_function"`
	KeyLength  int    `json:"key_length"`
}

// Generate implements Source: it derives a key with a new salt.
func (p PBKDF2) Generate(_ context.Context, secret []byte) (key, meta []byte, err error) {
	m := pbkdf2Meta{Salt: make([]byte, p.SaltLength), Iterations: p.Iterations, Hash: p.Hash, KeyLength: p.KeyLength}
	rand.Read(m.Salt) // never fails
	if key, err = p.derive(secret, m); err != nil {
		return nil, nil, err
	}
	meta, err = json.Marshal(m)
	return key, meta, err
}

// Restore implements Source: it derives the key with the salt and settings in meta.
func (p PBKDF2) Restore(_ context.Context, secret, meta []byte) ([]byte, error) {
	var m pbkdf2Meta
	if err := json.Unmarshal(meta, &m); err != nil {
		return nil, fmt.Errorf("its metadata in the file are damaged: %w", err)
	}
	switch {
	case m.Iterations <= 0 || m.Iterations > max(maxIterations, p.Iterations):
		return nil, fmt.Errorf("its metadata in the file ask for %d iterations, more than anybody sets: the file was edited", m.Iterations)
	case m.KeyLength <= 0 || m.KeyLength > maxLength || len(m.Salt) == 0:
		return nil, errors.New("its metadata in the file have no salt, or no sensible key length: the file was edited")
	case hashes[m.Hash] == nil:
		return nil, fmt.Errorf("its metadata in the file name the hash function %q, which does not exist", m.Hash)
	}
	return p.derive(secret, m)
}

func (p PBKDF2) derive(secret []byte, m pbkdf2Meta) ([]byte, error) {
	if p.Passphrase != "" {
		secret = []byte(p.Passphrase)
	}
	if len(secret) < minPassphrase {
		return nil, fmt.Errorf("the key of the chained provider is too short: it must have at least %d bytes", minPassphrase)
	}
	return pbkdf2.Key(hashes[m.Hash], string(secret), m.Salt, m.Iterations, m.KeyLength)
}
