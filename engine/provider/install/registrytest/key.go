package registrytest

import (
	"bytes"
	"testing"
	"time"

	"github.com/ProtonMail/go-crypto/openpgp"
	"github.com/ProtonMail/go-crypto/openpgp/armor"
	"github.com/ProtonMail/go-crypto/openpgp/packet"
)

// A Key is a key that signs, for tests.
type Key struct {
	t      testing.TB
	entity *openpgp.Entity
	config *packet.Config
}

// NewKey makes a new OpenPGP key that does not expire.
func NewKey(t testing.TB) *Key {
	t.Helper()
	return newKey(t, &packet.Config{Algorithm: packet.PubKeyAlgoEdDSA})
}

// NewExpiredKey creates a key that was valid for one day, ten days ago. Its signatures have the date of that
// day.
func NewExpiredKey(t testing.TB) *Key {
	t.Helper()
	then := time.Now().Add(-240 * time.Hour)
	return newKey(t, &packet.Config{
		Algorithm: packet.PubKeyAlgoEdDSA, KeyLifetimeSecs: 24 * 3600, Time: func() time.Time { return then },
	})
}

func newKey(t testing.TB, config *packet.Config) *Key {
	t.Helper()
	entity, err := openpgp.NewEntity("Registry", "for tests", "registry@example.com", config)
	if err != nil {
		t.Fatal(err)
	}
	return &Key{t, entity, config}
}

// ID returns the key's ID in upper-case hexadecimal.
func (k *Key) ID() string { return k.entity.PrimaryKey.KeyIdString() }

// Public returns the public key in ASCII armor.
func (k *Key) Public() string {
	var b bytes.Buffer
	w, err := armor.Encode(&b, openpgp.PublicKeyType, nil)
	if err == nil {
		err = k.entity.Serialize(w)
	}
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		k.t.Error(err)
	}
	return b.String()
}

// Sign returns a detached signature without armor.
func (k *Key) Sign(document []byte) []byte {
	var b bytes.Buffer
	if err := openpgp.DetachSign(&b, k.entity, bytes.NewReader(document), k.config); err != nil {
		k.t.Error(err)
	}
	return b.Bytes()
}

// Revoke marks the key as compromised. Signatures made after that must not be trusted.
func (k *Key) Revoke() {
	if err := k.entity.RevokeKey(packet.KeyCompromised, "for a test", k.config); err != nil {
		k.t.Error(err)
	}
}
