package gcs

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/lockstep-iac/lockstep/statebackend"
	"github.com/lockstep-iac/lockstep/statebackend/lockfile"
)

var _ statebackend.Leased = (*workspace)(nil)

// workspace is one state and its lock.
type workspace struct {
	objects *objects
	state   string // the object's name
	file    *lockfile.File
	holder  string // of leases

	mu   sync.Mutex // of one write or lock at a time; a renewal does not wait for it
	kept sync.Mutex // of the fields below
	held string     // the ID of the lock that this value took; "": none
	mine *statebackend.Lease
}

// Place implements statebackend.Workspace.
func (w *workspace) Place() string { return w.objects.place(w.state) }

// Get implements statebackend.Store.
func (w *workspace) Get(ctx context.Context) (statebackend.Snapshot, error) {
	data, generation, err := w.objects.Get(ctx, w.state)
	if err != nil {
		return statebackend.Snapshot{}, err
	}
	s := statebackend.Snapshot{Version: statebackend.Version(generation)}
	if len(data) > 0 {
		s.Bytes = data
	}
	return s, nil
}

// Put implements statebackend.Store. After a crash, the object has the old bytes or the new ones.
func (w *workspace) Put(ctx context.Context, data []byte, prev statebackend.Version) (statebackend.Version, error) {
	if len(data) == 0 {
		panic("gcs: Put of an empty state")
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := w.stillLocked(ctx); err != nil {
		return "", err
	}
	generation, err := w.objects.Put(ctx, w.state, data, string(prev))
	if err == nil {
		return statebackend.Version(generation), nil
	}
	if statebackend.Unreachable(err) || ctx.Err() != nil {
		return "", err
	}
	// The refusal may be the effect of our own attempt whose answer was lost.
	now, failed := w.Get(ctx)
	switch {
	case failed != nil:
		return "", errors.Join(err, failed)
	case bytes.Equal(now.Bytes, data):
		return now.Version, nil
	case errors.Is(err, lockfile.ErrPrecondition):
		return "", &statebackend.ConflictError{Path: w.Place(), Want: prev, Found: now.Version}
	}
	return "", err
}

// stillLocked returns a *statebackend.LockLostError if this value took a lock, and the lock is gone.
func (w *workspace) stillLocked(ctx context.Context) error {
	id, mine := w.lock()
	if id == "" {
		return ctx.Err()
	}
	if mine != nil {
		return w.file.StillLeased(ctx, *mine)
	}
	there, err := w.file.Holder(ctx)
	if err == nil && (there == nil || there.Info.ID != id) {
		err = &statebackend.LockLostError{Path: w.Place(), ID: id}
	}
	return err
}

// lock returns the lock that this value took, and its lease.
func (w *workspace) lock() (id string, mine *statebackend.Lease) {
	w.kept.Lock()
	defer w.kept.Unlock()
	return w.held, w.mine
}

// hold remembers the lock that this value took. An empty id means none.
func (w *workspace) hold(id string, mine *statebackend.Lease) {
	w.kept.Lock()
	defer w.kept.Unlock()
	w.held, w.mine = id, mine
}

// cleanupTime is the time for releasing a lock after an error. The release has its own context, since the caller's
// may have ended.
const cleanupTime = 20 * time.Second

// take takes the lock with the function create, which creates the lock object. If the answer is lost, it releases the
// lock again, because the caller never learns its ID.
func (w *workspace) take(ctx context.Context, info statebackend.LockInfo, mine *statebackend.Lease, create func() error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	err := create()
	if over := time.Since(info.Created); err == nil && mine != nil && over > statebackend.FirstLease {
		err = fmt.Errorf("the lock took %s: by now others may hold it for a dead one's", over.Round(time.Second))
	}
	if err == nil {
		w.hold(info.ID, mine)
		return nil
	}
	var locked *statebackend.LockedError
	if !errors.As(err, &locked) && !statebackend.Unreachable(err) {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), cleanupTime)
		defer cancel()
		w.file.Unlock(ctx, info.ID)
	}
	return err
}

// Lock implements statebackend.Locker.
func (w *workspace) Lock(ctx context.Context, info statebackend.LockInfo) (string, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if info.ID == "" {
		info.ID = statebackend.NewLockID()
	}
	info.Path = w.Place()
	return info.ID, w.take(ctx, info, nil, func() error { return w.file.Lock(ctx, info) })
}

// LockLeased implements statebackend.Leased.
func (w *workspace) LockLeased(ctx context.Context, info statebackend.LockInfo, t statebackend.Term) (*statebackend.Lease, error) {
	if info.ID == "" {
		panic("gcs: LockLeased without an ID")
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	info.Path, info.Info = w.Place(), statebackend.LeaseInfo(info.Info, t.Run, "")
	lease := statebackend.Lease{Lock: info.ID, Fence: 1, Holder: w.holder}.As(t)
	if err := w.take(ctx, info, &lease, func() error { return w.file.LockLeased(ctx, info, lease) }); err != nil {
		return nil, err
	}
	return &lease, nil
}

// Renew implements statebackend.Leased.
func (w *workspace) Renew(ctx context.Context, t statebackend.Term) (*statebackend.Lease, error) {
	_, mine := w.lock()
	if mine == nil {
		return nil, &statebackend.LockLostError{Path: w.Place()}
	}
	next := mine.As(t)
	if err := w.file.SetLease(ctx, mine.SameHolder, next); err != nil {
		return nil, err
	}
	w.hold(next.Lock, &next)
	return &next, nil
}

// TakeOver implements statebackend.Leased.
func (w *workspace) TakeOver(ctx context.Context, expected statebackend.Lease, t statebackend.Term) (*statebackend.Lease, error) {
	if !expected.Complete() {
		panic("gcs: TakeOver of an incomplete lock")
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	next := statebackend.Lease{Lock: expected.Lock, Fence: expected.Fence + 1, Holder: w.holder}.As(t)
	err := w.file.SetLease(ctx, func(now statebackend.Lease) bool {
		return now.Nonce == expected.Nonce || now.SameHolder(next)
	}, next)
	if err != nil {
		return nil, err
	}
	w.hold(next.Lock, &next)
	return &next, nil
}

// Unlock implements statebackend.Locker. id may also be the generation of the lock object, as stock tools show it.
func (w *workspace) Unlock(ctx context.Context, id string) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	held, mine := w.lock()
	var err error
	switch {
	case id == held && mine != nil: // whoever took the lock over uses the same ID: only the lease differs
		err = w.file.UnlockLeased(ctx, *mine)
	case isGeneration(id):
		err = w.unlockGeneration(ctx, id)
	default:
		err = w.file.Unlock(ctx, id)
	}
	var lost *statebackend.LockLostError
	if id == held && (err == nil || errors.Is(err, statebackend.ErrNotLocked) || errors.As(err, &lost)) {
		w.hold("", nil)
	}
	return err
}

// unlockGeneration deletes the lock object if it has that generation.
func (w *workspace) unlockGeneration(ctx context.Context, generation string) error {
	_, there, err := w.objects.Get(ctx, w.file.Key)
	if err == nil && there == generation {
		if err = w.objects.Delete(ctx, w.file.Key, there); !errors.Is(err, lockfile.ErrPrecondition) {
			return err
		}
	}
	if err != nil && !errors.Is(err, lockfile.ErrPrecondition) {
		return err
	}
	return w.file.Unlock(ctx, generation) // which names the holder
}

// Locks implements statebackend.Locker.
func (w *workspace) Locks(ctx context.Context) ([]statebackend.HeldLock, error) {
	there, err := w.file.Holder(ctx)
	if err != nil || there == nil {
		return nil, err
	}
	return []statebackend.HeldLock{*there}, nil
}
