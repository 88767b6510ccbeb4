package encryption

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"github.com/lockstep-iac/lockstep/statebackend"
)

// Wrap returns a backend that encrypts the states and journals that b stores. If c is nil, Wrap returns b.
func Wrap(b statebackend.Backend, c *Cipher) statebackend.Backend {
	if c == nil {
		return b
	}
	return &backend{b, c}
}

type backend struct {
	statebackend.Backend
	cipher *Cipher
}

// Open implements statebackend.Backend: it returns the encrypted state of a workspace.
func (b *backend) Open(name string) (statebackend.Workspace, error) {
	w, err := b.Backend.Open(name)
	if err != nil {
		return nil, err
	}
	out := &Workspace{w, b.cipher}
	j, keepsJournal := w.(statebackend.Journaled)
	l, keepsLeases := w.(statebackend.Leased) // there are no secrets in leases
	switch {
	case keepsJournal && keepsLeases:
		return &journaledLeased{&journaled{out, j}, l}, nil
	case keepsJournal:
		return &journaled{out, j}, nil
	case keepsLeases:
		return &leased{out, l}, nil
	}
	return out, nil
}

type leased struct {
	*Workspace
	statebackend.Leased
}

type journaledLeased struct {
	*journaled
	statebackend.Leased
}

// A Workspace stores its state encrypted.
type Workspace struct {
	statebackend.Workspace
	cipher *Cipher
}

// Prepare creates the key to encrypt with: see [Cipher.Prepare].
func (w *Workspace) Prepare(ctx context.Context) error { return w.cipher.Prepare(ctx) }

// CheckConditions implements statebackend.Conditional: it asks the underlying workspace, if that is
// Conditional.
func (w *Workspace) CheckConditions(ctx context.Context) error {
	if c, ok := w.Workspace.(statebackend.Conditional); ok {
		return c.CheckConditions(ctx)
	}
	return nil
}

// Sealed returns the encrypted bytes that Put would store for a state.
func (w *Workspace) Sealed(ctx context.Context, state []byte) ([]byte, error) {
	return w.cipher.EncryptState(ctx, state)
}

// sidecarPurpose keeps a sidecar from being read as a state, a plan or a journal, and these from being read as a
// sidecar.
const sidecarPurpose = "lockstep sidecar"

// ReadSidecar implements statebackend.Sidecar, and decrypts the object. It asks the underlying workspace, if that is a
// Sidecar.
func (w *Workspace) ReadSidecar(ctx context.Context) ([]byte, error) {
	sealed, err := statebackend.ReadSidecar(ctx, w.Workspace)
	if err != nil || len(sealed) == 0 {
		return nil, err
	}
	data, _, err := w.cipher.decrypt(ctx, sealed, []byte(sidecarPurpose))
	return data, err
}

// WriteSidecar implements statebackend.Sidecar, and encrypts the object.
func (w *Workspace) WriteSidecar(ctx context.Context, data []byte) error {
	sealed, err := w.cipher.encrypt(ctx, data, []byte(sidecarPurpose))
	if err != nil {
		return err
	}
	return statebackend.WriteSidecar(ctx, w.Workspace, sealed)
}

// Get implements statebackend.Store, and decrypts the state. If the decryption fails, the Snapshot has no
// version.
func (w *Workspace) Get(ctx context.Context) (statebackend.Snapshot, error) {
	s, err := w.Workspace.Get(ctx)
	if err != nil || len(s.Bytes) == 0 {
		return s, err
	}
	state, current, err := w.cipher.DecryptState(ctx, s.Bytes)
	if err != nil {
		return statebackend.Snapshot{}, fmt.Errorf("the state at %s: %w", w.Place(), err)
	}
	return statebackend.Snapshot{Bytes: state, Version: s.Version, Outdated: !current}, nil
}

// Put implements statebackend.Store. The same state has another ciphertext each time. So the store cannot
// recognize the bytes of an attempt whose answer was lost: Put decrypts the stored state and compares it.
func (w *Workspace) Put(ctx context.Context, data []byte, prev statebackend.Version) (statebackend.Version, error) {
	if len(data) == 0 {
		panic("encryption: no state to put")
	}
	sealed, err := w.cipher.EncryptState(ctx, data)
	if err != nil {
		return "", fmt.Errorf("encrypt the state for %s: %w; nothing was written", w.Place(), err)
	}
	v, err := w.Workspace.Put(ctx, sealed, prev)
	var conflict *statebackend.ConflictError
	if !errors.As(err, &conflict) {
		return v, err
	}
	if stored, e := w.Get(ctx); e == nil && bytes.Equal(stored.Bytes, data) && !stored.Outdated {
		return stored.Version, nil
	}
	return "", err
}

// journaled is a workspace with a journal. The journal is also encrypted, since it has values of the state.
type journaled struct {
	*Workspace
	log statebackend.Journaled
}

// Journal implements statebackend.Journaled: it returns the encrypted journal log.
func (w *journaled) Journal() statebackend.Log { return &log{w.log.Journal(), w.cipher} }
