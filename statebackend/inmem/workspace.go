package inmem

import (
	"bytes"
	"context"

	"github.com/lockstep-iac/lockstep/statebackend"
)

// A workspace is an opened workspace.
type workspace struct {
	store *store
	name  string
	lock  string // the ID of the lock that this value took; guarded by store.mu
}

// Place implements statebackend.Workspace. It returns a text for messages.
func (w *workspace) Place() string { return "the memory of this process: " + w.name }

// with calls the function f with the state. While f runs, no other call of the method with runs.
func (w *workspace) with(ctx context.Context, f func(*state) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	w.store.mu.Lock()
	defer w.store.mu.Unlock()
	return f(w.store.of(w.name))
}

// Get implements statebackend.Workspace: it reads the state.
func (w *workspace) Get(ctx context.Context) (out statebackend.Snapshot, err error) {
	err = w.with(ctx, func(s *state) error {
		out = statebackend.Snapshot{Bytes: bytes.Clone(s.data), Version: s.token()}
		return nil
	})
	return out, err
}

// Put implements statebackend.Workspace: it stores a state if the present version is prev.
func (w *workspace) Put(ctx context.Context, data []byte, prev statebackend.Version) (v statebackend.Version, err error) {
	err = w.with(ctx, func(s *state) (err error) {
		if w.lock != "" && (s.lock == nil || s.lock.ID != w.lock) {
			return &statebackend.LockLostError{Path: w.name, ID: w.lock}
		}
		v, err = s.put(w.name, data, prev)
		return err
	})
	return v, err
}

// Lock implements statebackend.Workspace: it takes the lock, or fails at once.
func (w *workspace) Lock(ctx context.Context, info statebackend.LockInfo) (string, error) {
	err := w.with(ctx, func(s *state) error {
		if info.ID == "" {
			info.ID = statebackend.NewLockID()
		}
		info.Path = w.name
		if s.lock != nil && !bytes.Equal(s.lock.Marshal(), info.Marshal()) {
			return &statebackend.LockedError{HeldLock: s.held()}
		}
		s.lock, w.lock = &info, info.ID
		return nil
	})
	if err != nil {
		return "", err
	}
	return info.ID, nil
}

// Unlock implements statebackend.Workspace: it releases the lock with that ID.
func (w *workspace) Unlock(ctx context.Context, id string) error {
	return w.with(ctx, func(s *state) error {
		switch {
		case s.lock == nil:
			w.lock = ""
			return statebackend.ErrNotLocked
		case s.lock.ID != id:
			return &statebackend.LockMismatchError{ID: id, Held: []statebackend.HeldLock{s.held()}}
		}
		s.lock, w.lock = nil, ""
		return nil
	})
}

// Locks implements statebackend.Workspace: it lists the lock, if there is one.
func (w *workspace) Locks(ctx context.Context) (out []statebackend.HeldLock, err error) {
	err = w.with(ctx, func(s *state) error {
		if s.lock != nil {
			out = append(out, s.held())
		}
		return nil
	})
	return out, err
}
