package encryption

import (
	"context"
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
)

// A Cipher encrypts and decrypts the files of one target. It is safe for concurrent use.
type Cipher struct{ target Target }

// sealing has the key with which a cipher encrypts, and the key's metadata.
type sealing struct {
	aead cipher.AEAD
	meta metadata
}

// New returns the cipher of a target.
func New(t Target) *Cipher {
	if len(t.Methods) == 0 {
		panic("encryption: a target without methods")
	}
	return &Cipher{t}
}

// Prepare creates the key to encrypt with. Encryption cannot fail after it. Call it before work that ends
// with an encrypted write, such as an apply.
func (c *Cipher) Prepare(ctx context.Context) error {
	_, err := c.sealing(ctx)
	return err
}

// sealing returns what is needed to encrypt. It returns nil if the first method is "unencrypted".
func (c *Cipher) sealing(ctx context.Context) (*sealing, error) {
	m := c.target.Methods[0]
	if m.Keys == nil {
		if c.target.Enforced {
			return nil, errors.New("the method \"unencrypted\" is configured where encryption is enforced: name another method first, or leave enforced out")
		}
		return nil, nil
	}
	s := &sealing{meta: metadata{}}
	key, err := m.Keys.toEncrypt(ctx, s.meta)
	if err != nil {
		return nil, fmt.Errorf("no key to encrypt with: %w", err)
	}
	if s.aead, err = gcm(key); err != nil {
		return nil, fmt.Errorf("%s: %w", m.Name, err)
	}
	return s, nil
}

func gcm(key []byte) (cipher.AEAD, error) {
	b, err := aes.NewCipher(key)
	if err != nil {
		return nil, fmt.Errorf("AES-GCM needs a key of 16, 24 or 32 bytes, and has one of %d", len(key))
	}
	return cipher.NewGCM(b)
}

// EncryptState returns the bytes to store for a state. The method "unencrypted" returns the state unchanged.
func (c *Cipher) EncryptState(ctx context.Context, state []byte) ([]byte, error) {
	s, err := c.sealing(ctx)
	if err != nil || s == nil {
		return state, err
	}
	id, err := identityOf(state)
	if err != nil {
		return nil, fmt.Errorf("not a state: %w", err)
	}
	return c.seal(s, state, &id, nil)
}

// EncryptPlan returns the bytes to store for a plan of any format. The method "unencrypted" returns the plan
// unchanged.
func (c *Cipher) EncryptPlan(ctx context.Context, plan []byte) ([]byte, error) {
	return c.encrypt(ctx, plan, nil)
}

// encrypt encrypts data for a purpose, such as the number of a journal segment. Decryption fails with another
// purpose.
func (c *Cipher) encrypt(ctx context.Context, data, purpose []byte) ([]byte, error) {
	s, err := c.sealing(ctx)
	if err != nil || s == nil {
		return data, err
	}
	return c.seal(s, data, nil, purpose)
}

func (c *Cipher) seal(s *sealing, data []byte, id *identity, purpose []byte) ([]byte, error) {
	nonce := make([]byte, s.aead.NonceSize(), s.aead.NonceSize()+len(data)+s.aead.Overhead())
	rand.Read(nonce)
	sealed := s.aead.Seal(nonce, nonce, data, slices.Concat(c.target.Methods[0].AAD, purpose))
	return json.Marshal(payload{id, s.meta, sealed, version})
}

// DecryptState decrypts a stored state. current is true if the state is encrypted with the first method. If
// current is false, store the state again, even without changes.
func (c *Cipher) DecryptState(ctx context.Context, data []byte) (state []byte, current bool, err error) {
	p, ok := parse(data)
	if !ok {
		return c.plain(data)
	}
	state, current, err = c.open(ctx, p, nil)
	if err != nil {
		return nil, false, err
	}
	id, err := identityOf(state)
	if err != nil {
		return nil, false, fmt.Errorf("what was encrypted is not a state: %w", err)
	}
	if !p.identity.agrees(id) {
		return nil, false, fmt.Errorf("it was edited: outside of what is encrypted it has %s, and inside %s. Put the version from before the edit back", p.identity, id)
	}
	return state, current, nil
}

// DecryptPlan decrypts a stored plan.
func (c *Cipher) DecryptPlan(ctx context.Context, data []byte) ([]byte, error) {
	plain, _, err := c.decrypt(ctx, data, nil)
	return plain, err
}

func (c *Cipher) decrypt(ctx context.Context, data, purpose []byte) (plain []byte, current bool, err error) {
	p, ok := parse(data)
	if !ok {
		return c.plain(data)
	}
	return c.open(ctx, p, purpose)
}

// plain is for data that is not encrypted. It returns the data, and whether the first method is no encryption.
// If the target requires encryption, the error is an *UnencryptedError.
func (c *Cipher) plain(data []byte) ([]byte, bool, error) {
	if !c.target.unencrypted() {
		return nil, false, &UnencryptedError{c.target.Enforced}
	}
	return data, c.target.Methods[0].Keys == nil, nil
}

// open decrypts with the first method that can. current reports whether this is the method that also encrypts.
func (c *Cipher) open(ctx context.Context, p payload, purpose []byte) (plain []byte, current bool, err error) {
	if p.Version != version {
		return nil, false, fmt.Errorf("it is encrypted in the format %q, which this version does not know: it knows %q", p.Version, version)
	}
	failed := &DecryptError{}
	for i, m := range c.target.Methods {
		if m.Keys == nil {
			continue
		}
		aead, err := m.aead(ctx, p.Meta)
		if err == nil {
			plain, err = unseal(aead, p.Data, slices.Concat(m.AAD, purpose))
		}
		if err == nil {
			return plain, i == 0, nil
		}
		failed.Reasons = append(failed.Reasons, fmt.Sprintf("with %s, %s", m.Name, err))
	}
	if len(failed.Reasons) == 0 {
		failed.Reasons = []string{"no method with keys is configured"}
	}
	return nil, false, failed
}

func unseal(aead cipher.AEAD, data, aad []byte) ([]byte, error) {
	n := aead.NonceSize()
	if len(data) < n {
		return nil, errors.New("the file was cut short")
	}
	plain, err := aead.Open(nil, data[:n], data[n:], aad)
	if err != nil {
		return nil, errors.New(notAuthentic)
	}
	return plain, nil
}

// aead returns the AES-GCM cipher with the key that meta, the metadata of a file, describes.
func (m Method) aead(ctx context.Context, meta metadata) (cipher.AEAD, error) {
	key, err := m.Keys.toDecrypt(ctx, meta)
	if err != nil {
		return nil, err
	}
	return gcm(key)
}
