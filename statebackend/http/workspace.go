package http

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	nethttp "net/http"
	"net/url"
	"sync"

	"github.com/lockstep-iac/lockstep/statebackend"
)

// workspace is the state at the address.
type workspace struct {
	client *client

	mu   sync.Mutex
	held *statebackend.LockInfo // the lock that this value took
}

// Place implements statebackend.Workspace. It returns the address without a password.
func (w *workspace) Place() string { return w.client.address.Redacted() }

// versionOf returns a hash of data as its version; "" for no data.
func versionOf(data []byte) statebackend.Version {
	if len(data) == 0 {
		return ""
	}
	sum := sha256.Sum256(data)
	return statebackend.Version(hex.EncodeToString(sum[:]))
}

// Get implements statebackend.Store: it reads the state.
func (w *workspace) Get(ctx context.Context) (statebackend.Snapshot, error) {
	var none statebackend.Snapshot
	if err := ctx.Err(); err != nil {
		return none, err
	}
	a, err := w.client.do(ctx, nethttp.MethodGet, w.client.address, nil)
	if err != nil {
		return none, err
	}
	switch a.status {
	case nethttp.StatusOK:
	case nethttp.StatusNoContent, nethttp.StatusNotFound:
		return none, nil
	default:
		return none, a.refusal(nethttp.MethodGet, w.client.address)
	}
	if len(a.body) == 0 {
		return none, nil
	}
	if want := a.header.Get("Content-MD5"); want != "" && want != md5Of(a.body) {
		return none, fmt.Errorf("read %s: the state that arrived is not the one that the server's checksum is of; try again", w.Place())
	}
	return statebackend.Snapshot{Bytes: a.body, Version: versionOf(a.body)}, nil
}

// Put implements statebackend.Store as far as the protocol allows: see the gaps in the package comment.
func (w *workspace) Put(ctx context.Context, data []byte, prev statebackend.Version) (statebackend.Version, error) {
	if len(data) == 0 {
		panic("http: Put of an empty state")
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	data = bytes.Clone(data)
	there, err := w.Get(ctx)
	switch {
	case err != nil:
		return "", err
	case bytes.Equal(there.Bytes, data):
		return there.Version, nil
	case there.Version != prev:
		return "", &statebackend.ConflictError{Path: w.Place(), Want: prev, Found: there.Version}
	}
	// After a crash from here on, the server has the old bytes or the new ones.
	if err := w.write(ctx, data); err != nil {
		return "", err
	}
	return versionOf(data), nil
}

// write sends the state to the server. If it returns an error, the server may have stored the state
// nevertheless.
func (w *workspace) write(ctx context.Context, data []byte) error {
	to := *w.client.address
	if w.held != nil && w.client.lock != nil {
		query := to.Query()
		query.Set("ID", w.held.ID)
		to.RawQuery = query.Encode()
	}
	method := w.client.updateMethod
	a, err := w.client.do(ctx, method, &to, data)
	if err == nil {
		switch a.status {
		case nethttp.StatusOK, nethttp.StatusCreated, nethttp.StatusNoContent:
			return nil
		case nethttp.StatusConflict, nethttp.StatusLocked:
			if w.held != nil {
				return &statebackend.LockLostError{Path: w.Place(), ID: w.held.ID}
			}
			return &statebackend.LockedError{HeldLock: holder(a.body)}
		}
		err = a.refusal(method, w.client.address)
	}
	if there, again := w.Get(ctx); again == nil && bytes.Equal(there.Bytes, data) {
		return nil
	}
	return err
}

// Lock implements statebackend.Locker. If the block has no lock address, Lock takes no lock and succeeds.
func (w *workspace) Lock(ctx context.Context, info statebackend.LockInfo) (string, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := ctx.Err(); err != nil {
		return "", err
	}
	if info.ID == "" {
		info.ID = statebackend.NewLockID()
	}
	info.Path = w.Place()
	if w.client.lock == nil {
		w.held = &info
		return info.ID, nil
	}
	a, err := w.client.do(ctx, w.client.lockMethod, w.client.lock, info.Marshal())
	if err != nil {
		return "", errors.Join(err, w.giveBack(ctx, info, err))
	}
	switch a.status {
	case nethttp.StatusOK:
	case nethttp.StatusConflict, nethttp.StatusLocked:
		h := holder(a.body)
		if h.Info.ID != info.ID { // With an equal ID, an earlier attempt of this process has taken the lock, and its answer was lost.
			return "", &statebackend.LockedError{HeldLock: h}
		}
	default:
		return "", notALock(a, w.client.lockMethod, w.client.lock)
	}
	w.held = &info
	return info.ID, nil
}

// notALock returns the error for a status that does not mean "locked". A file server answers every PUT with
// another 2xx status, even if somebody else has the lock. So no lock is released: it may be somebody else's.
func notALock(a answer, method string, address *url.URL) error {
	err := a.refusal(method, address)
	if a.status/100 == 2 {
		err = fmt.Errorf("%w: only 200 is a lock. The server does not keep writers apart: give the address of one that does in lock_address, or remove lock_address and see to it that nobody else writes the state", err)
	}
	return err
}

// giveBack releases the lock of an attempt whose answer was lost. Nobody knows the ID of this lock, so nobody
// else could release it.
func (w *workspace) giveBack(ctx context.Context, info statebackend.LockInfo, cause error) error {
	if statebackend.Unreachable(cause) || w.client.unlock == nil {
		return nil
	}
	a, err := w.client.do(context.WithoutCancel(ctx), w.client.unlockMethod, w.client.unlock, info.Marshal())
	if err != nil || a.status >= nethttp.StatusInternalServerError {
		return fmt.Errorf("the lock %s may have been taken, and could not be released", info.ID)
	}
	return nil
}

// Unlock implements statebackend.Locker: it releases the lock with that ID.
func (w *workspace) Unlock(ctx context.Context, id string) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	info := statebackend.LockInfo{ID: id}
	mine := w.held != nil && w.held.ID == id
	if mine {
		info = *w.held
	}
	if w.client.unlock == nil {
		if !mine {
			return statebackend.ErrNotLocked
		}
		w.held = nil
		return nil
	}
	a, err := w.client.do(ctx, w.client.unlockMethod, w.client.unlock, info.Marshal())
	if err != nil {
		return err
	}
	switch a.status {
	case nethttp.StatusOK, nethttp.StatusNoContent:
		if mine {
			w.held = nil
		}
		return nil
	case nethttp.StatusNotFound:
		return statebackend.ErrNotLocked
	case nethttp.StatusConflict, nethttp.StatusLocked:
		return &statebackend.LockMismatchError{ID: id, Held: []statebackend.HeldLock{holder(a.body)}}
	}
	return a.refusal(w.client.unlockMethod, w.client.unlock)
}

// Locks implements statebackend.Locker. The protocol has no request for locks, so Locks returns only the lock
// that this value took.
func (w *workspace) Locks(context.Context) ([]statebackend.HeldLock, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.held == nil || w.client.lock == nil {
		return nil, nil
	}
	return []statebackend.HeldLock{{Kind: statebackend.ServerLock, Info: *w.held}}, nil
}

// holder reads the lock's holder from the body of a refusal. Its ID is empty if the body does not name a
// holder.
func holder(body []byte) statebackend.HeldLock {
	info, err := statebackend.ParseLockInfo(body)
	if err != nil {
		info = statebackend.LockInfo{}
	}
	return statebackend.HeldLock{Kind: statebackend.ServerLock, Info: info}
}
