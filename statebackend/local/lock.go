package local

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"github.com/lockstep-iac/lockstep/statebackend"
)

// heldLock is a lock of this process. It lasts as long as the file is open.
type heldLock struct {
	file    *os.File
	info    statebackend.LockInfo
	created bool // locking created the file
}

// infoPath returns the path of the file with Terraform's description of the lock's holder.
func infoPath(path string) string { return hidden(path, "lock.info") }

// Lock locks the file to be written, creates it empty if it does not exist, and then describes the holder in
// a file beside it. A crash at any point leaves no lock, since the operating system releases it. An empty
// file is no state. The next holder overwrites the description.
func (w *workspace) Lock(ctx context.Context, info statebackend.LockInfo) (string, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := ctx.Err(); err != nil {
		return "", err
	}
	if w.held != nil {
		return "", &statebackend.LockedError{HeldLock: statebackend.HeldLock{Kind: statebackend.FileLock, Info: w.held.info}}
	}
	path := w.at(w.out)
	held, err := lockPath(path)
	if errors.Is(err, errBusy) {
		return "", &statebackend.LockedError{HeldLock: holder(path)}
	}
	if err != nil {
		return "", fmt.Errorf("lock state: %w", err)
	}
	if info.ID == "" {
		info.ID = statebackend.NewLockID()
	}
	info.Path = w.read // as Terraform writes it, also with -state-out
	held.info = info
	err = os.WriteFile(infoPath(path), info.Marshal(), 0o600)
	if err == nil {
		err = w.healGuarded(ctx, held.file, path)
	}
	if err != nil {
		held.release(path)
		return "", fmt.Errorf("lock state: %w", err)
	}
	w.held = held
	return info.ID, nil
}

// healGuarded completes the write of a writer that died. If somebody holds the guard, the writer is still
// alive, and healGuarded does nothing.
func (w *workspace) healGuarded(ctx context.Context, f *os.File, path string) error {
	release, err := guard(ctx, f, exclusive, holderPatience)
	if errors.Is(err, errBusy) {
		return nil
	}
	if err != nil {
		return err
	}
	defer release()
	return w.heal(f, path)
}

// lockPath opens and locks the file. If somebody else has the lock, the error is errBusy.
func lockPath(path string) (*heldLock, error) {
	for {
		f, created, err := create(path)
		if err != nil {
			return nil, err
		}
		if err := lockFile(f); err != nil {
			f.Close()
			return nil, err
		}
		if sameFile(f, path) {
			return &heldLock{file: f, created: created}, nil
		}
		// The previous holder had created the file, and has removed it again, since it was empty.
		f.Close()
	}
}

// release undoes lockPath. It removes the description first: once the lock is
// released, the description may already be the next holder's.
func (h *heldLock) release(path string) error {
	err := os.Remove(infoPath(path))
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	if h.created {
		removeEmpty(h.file, path)
	}
	return errors.Join(err, unlockFile(h.file), h.file.Close())
}

// Unlock releases the lock of this value. The lock of another living process cannot be released, neither by
// Lockstep nor by Terraform. A dead process leaves only the description of its lock. Unlock removes the
// description if it has the given ID.
func (w *workspace) Unlock(ctx context.Context, id string) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	path := w.at(w.out)
	if w.held != nil {
		if w.held.info.ID != id {
			return mismatch(id, statebackend.HeldLock{Kind: statebackend.FileLock, Info: w.held.info})
		}
		held := w.held
		w.held = nil
		if err := held.release(path); err != nil {
			return fmt.Errorf("unlock state: %w", err)
		}
		return nil
	}
	locked, err := isLocked(path)
	if err != nil {
		return fmt.Errorf("unlock state: %w", err)
	}
	described := holder(path)
	switch {
	case locked && described.Info.ID != id:
		return mismatch(id, described)
	case locked:
		return fmt.Errorf("the %s: its process is still running, and the lock is released when that ends", described)
	case described.Info.ID != id || id == "":
		return statebackend.ErrNotLocked
	}
	if err := os.Remove(infoPath(path)); err != nil {
		return fmt.Errorf("unlock state: %w", err)
	}
	return nil
}

func mismatch(id string, held statebackend.HeldLock) error {
	return &statebackend.LockMismatchError{ID: id, Held: []statebackend.HeldLock{held}}
}

// Locks asks the operating system whether the file is locked, and reads the holder from the description.
func (w *workspace) Locks(ctx context.Context) ([]statebackend.HeldLock, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	path := w.at(w.out)
	if w.held != nil {
		return []statebackend.HeldLock{{Kind: statebackend.FileLock, Info: w.held.info}}, nil
	}
	locked, err := isLocked(path)
	if err != nil {
		return nil, fmt.Errorf("look at the state's lock: %w", err)
	}
	if !locked {
		return nil, nil
	}
	return []statebackend.HeldLock{holder(path)}, nil
}

// holder reads the description. It is written after the lock is taken, so it may be missing for a moment:
// then the holder is unknown.
func holder(path string) statebackend.HeldLock {
	held := statebackend.HeldLock{Kind: statebackend.FileLock}
	for range 3 {
		if b, err := os.ReadFile(infoPath(path)); err == nil {
			if info, err := statebackend.ParseLockInfo(b); err == nil {
				held.Info = info
				break
			}
		}
		time.Sleep(10 * time.Millisecond)
	}
	return held
}

// isLocked reports whether another open file has the lock. It does not take the lock.
func isLocked(path string) (bool, error) {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	defer f.Close()
	return fileLocked(f)
}
