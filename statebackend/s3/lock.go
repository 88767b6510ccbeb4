package s3

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/lockstep-iac/lockstep/statebackend"
	"github.com/lockstep-iac/lockstep/statebackend/lockfile"
)

// held describes the lock that a workspace value holds.
type held struct {
	info   statebackend.LockInfo
	object bool // the lock object
	item   bool // the lock item
}

// cleanupTime is the time for releasing a lock after an error. The release has its own context, since the
// caller's may have ended.
const cleanupTime = 20 * time.Second

// Lock takes the lock object, then the lock item. All tools that take both use this order, so two tools can
// never hold one each.
func (w *workspace) Lock(ctx context.Context, info statebackend.LockInfo) (string, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if info.ID == "" {
		info.ID = statebackend.NewLockID()
	}
	if err := w.lock(ctx, info, nil); err != nil {
		return "", err
	}
	return info.ID, nil
}

// lock takes the locks, with the lease unless lease is nil.
func (w *workspace) lock(ctx context.Context, info statebackend.LockInfo, lease *statebackend.Lease) error {
	info.Path = w.path()
	took := &held{info: info}

	// A crash after this leaves a lock object, and no item. Unlock with its ID removes it.
	var err error
	took.object, err = w.lockObject(ctx, info, lease)
	if err == nil && w.items != nil {
		// A crash after this leaves both. Unlock with their ID removes them.
		if err = w.lockItem(ctx, info, lease); err == nil {
			took.item = true
		}
	}
	if !took.object && !took.item {
		lease = nil // no lock was taken, so there is no lease
	}
	if err == nil && lease != nil {
		err = soonEnough(info)
	}
	if err == nil {
		w.hold(took)
		w.lease.Store(lease)
		return nil
	}
	// The caller never learns the ID of this lock. So no lock with this ID may remain, not even from an attempt
	// whose response was lost.
	return w.withLease(ctx, w.abandon(ctx, took, err))
}

func (w *workspace) lockItem(ctx context.Context, info statebackend.LockInfo, lease *statebackend.Lease) error {
	if lease == nil {
		return w.items.Lock(ctx, info)
	}
	return w.items.LockLeased(ctx, info, *lease)
}

// createObject creates the lock object. The object also has the lease if there is no table.
func (w *workspace) createObject(ctx context.Context, info statebackend.LockInfo, lease *statebackend.Lease) error {
	if lease == nil || w.items != nil {
		return w.file.Lock(ctx, info)
	}
	return w.file.LockLeased(ctx, info, *lease)
}

// lockObject takes the lock object, and reports whether it did. If the block does not ask for a lock object,
// a missing permission is no error.
func (w *workspace) lockObject(ctx context.Context, info statebackend.LockInfo, lease *statebackend.Lease) (bool, error) {
	if err := w.prove(ctx); err != nil {
		return false, err
	}
	var err error
	if !w.objects.conditions.looks.Load() {
		if err = w.createLock(ctx, info, lease); w.clearStale(ctx, err) {
			err = w.createLock(ctx, info, lease)
		}
		if err == nil {
			return true, nil
		}
		if w.useLockfile || !cannotLock(err) {
			err = w.withoutConditions(err)
			if err != nil {
				return false, err
			}
		}
	}
	// Without the permission to create a lock object, another holder's object may still exist.
	if there, err := w.file.Holder(ctx); err == nil && there != nil {
		return false, &statebackend.LockedError{HeldLock: *there}
	}
	if err == nil { // the server ignores conditions; the user has already been told so in a note
		return false, nil
	}
	w.options.Note(fmt.Sprintf("no lock object was put beside the state, so tools that look for one do not see our lock: %v", err))
	return false, nil
}

// cannotLock reports whether err means that no lock object is possible: the permission is missing, or the
// server treats a deleted lock object as existing.
func cannotLock(err error) bool {
	return errors.Is(err, statebackend.ErrDenied) || errors.Is(err, lockfile.ErrObstructed)
}

// clearStale removes the lock object of a Lockstep run that has ended, if the lock item is gone. Such an object
// remains when a tool without lock objects released only the item. clearStale reports whether it removed the
// object.
func (w *workspace) clearStale(ctx context.Context, err error) bool {
	var locked *statebackend.LockedError
	if w.items == nil || !errors.As(err, &locked) || locked.Info.ID == "" || !w.options.EndedRun(locked.Info.ID) {
		return false
	}
	if item, err := w.items.Holder(ctx); err != nil || item != nil {
		return false
	}
	return w.file.Unlock(ctx, locked.Info.ID) == nil
}

// abandon releases every lock that a failed Lock took or may have taken, and
// returns the error for the caller.
func (w *workspace) abandon(ctx context.Context, took *held, cause error) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), cleanupTime)
	defer cancel()
	var locked *statebackend.LockedError
	refused := errors.As(cause, &locked) || statebackend.Unreachable(cause)
	// If somebody else holds the lock, or the request was never sent, this lock was certainly not taken.
	// After any other error it may have been taken: try to release it.
	if w.items != nil && !refused {
		w.items.Unlock(ctx, took.info.ID)
	}
	if !took.object && !refused {
		w.file.Unlock(ctx, took.info.ID)
	}
	if took.object {
		err := w.file.Unlock(ctx, took.info.ID)
		if err != nil && !errors.Is(err, statebackend.ErrNotLocked) {
			return fmt.Errorf("%w; and the lock object %s, which was taken before, could not be released: %w", cause, took.info.ID, err)
		}
	}
	return cause
}

// announce stores the next digest in the lock item. It first checks that this value's locks still exist, and
// that nobody has taken them over.
func (w *workspace) announce(ctx context.Context, digest string) error {
	if w.held == nil {
		return nil
	}
	lease := w.lease.Load()
	if lease != nil && w.items == nil {
		return w.file.StillLeased(ctx, *lease)
	}
	if err := w.sameObject(ctx, w.held.info.ID); err != nil || !w.held.item {
		return err
	}
	// An earlier announcement may belong to an object whose digest was never written. Repair the digest
	// before replacing the announcement.
	if w.unsettled {
		if err := w.settleAnnounced(ctx); err != nil {
			return err
		}
	}
	w.unsettled = true
	if lease != nil {
		w.leasing.Lock()
		defer w.leasing.Unlock()
		return w.items.AnnounceLeased(ctx, *lease, digest)
	}
	return w.items.Announce(ctx, w.held.info, digest)
}

// Unlock releases the item, then the object, even if releasing the item fails. In this order, no tool that
// takes both locks can take one of them in between. A crash between the two leaves the object, and Unlock with
// the same ID removes it.
func (w *workspace) Unlock(ctx context.Context, id string) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	var results []error
	lease := w.lease.Load()
	if err := w.settle(ctx, id); err != nil {
		if lease != nil && lease.Lock == id {
			// Unlock would delete the announcement together with the lock, and without it the state could not
			// be read any more. A process that takes the lock over has both.
			return fmt.Errorf("unlock: the digest of the state could not be written, which the next holder of the lock does: %w", err)
		}
		w.options.Note(fmt.Sprintf("the state's digest could not be checked: %v", err))
	}
	switch {
	case lease != nil && lease.Lock == id:
		// A process that has taken the lock over uses the same lock ID: only the lease differs. If there is a
		// table, a crash after this leaves the lock object, which nobody holds.
		err := w.releaseLease(ctx, *lease)
		if err != nil && !errors.Is(err, statebackend.ErrNotLocked) {
			return w.deposed(err)
		}
		if results = append(results, err); w.items == nil {
			return w.released(id, results)
		}
	case w.items != nil:
		results = append(results, w.items.Unlock(ctx, id))
	}
	err := w.file.Unlock(ctx, id)
	if !w.useLockfile && (w.held == nil || !w.held.object) && cannotLock(err) {
		err = statebackend.ErrNotLocked // without the permission, Lock took no lock object either
	}
	return w.released(id, append(results, err))
}

// released combines the results of releasing each kind of lock into one.
func (w *workspace) released(id string, results []error) error {
	var others []statebackend.HeldLock
	var failed []error
	done := false
	for _, err := range results {
		var mismatch *statebackend.LockMismatchError
		switch {
		case err == nil:
			done = true
		case errors.Is(err, statebackend.ErrNotLocked):
		case errors.As(err, &mismatch):
			others = append(others, mismatch.Held...)
		default:
			failed = append(failed, err)
		}
	}
	if len(failed) > 0 {
		return fmt.Errorf("unlock: %w", errors.Join(failed...))
	}
	if !done && len(others) > 0 {
		return &statebackend.LockMismatchError{ID: id, Held: others}
	}
	if w.held != nil && w.held.info.ID == id {
		w.letGo()
	}
	if !done {
		return statebackend.ErrNotLocked
	}
	for _, other := range others {
		w.options.Note(fmt.Sprintf("lock %s was released, but there is another: the %s", id, other))
	}
	return nil
}

// settle writes the digest that the lock's holder announced, if the object has that digest. It must do so
// before the lock item is deleted, since the announcement is part of the item. If settle fails,
// [workspace.Unlock] keeps a lock with a lease of this value, so that another process can take it over. It
// releases any other lock nevertheless.
func (w *workspace) settle(ctx context.Context, id string) error {
	mine := w.held != nil && w.held.info.ID == id
	if w.items == nil || mine && !w.unsettled {
		return nil
	}
	there, err := w.items.Holder(ctx)
	if err != nil || there == nil || there.Info.ID != id {
		return nil // Unlock reports it
	}
	return w.settleAnnounced(ctx)
}

// settleAnnounced writes the digest that is announced in the lock item, if the object has that digest.
func (w *workspace) settleAnnounced(ctx context.Context) error {
	if w.items == nil {
		return nil
	}
	announced, err := w.items.Announced(ctx)
	if err != nil || len(announced) == 0 {
		return err
	}
	return w.settleAs(ctx, announced)
}

func (w *workspace) settleAs(ctx context.Context, announced []string) error {
	stored, err := w.items.Digest(ctx)
	if err != nil || stored == announced[0] {
		return err
	}
	data, _, err := w.objects.Get(ctx, w.key)
	digest := digestOf(data)
	if err != nil || digest == stored || !slices.Contains(announced, digest) {
		return err
	}
	w.digest = nil
	return w.items.SetDigest(ctx, digest, stored)
}

// Locks reads the lock object, then the lock item.
func (w *workspace) Locks(ctx context.Context) ([]statebackend.HeldLock, error) {
	var found []statebackend.HeldLock
	there, err := w.file.Holder(ctx)
	if err != nil && (w.useLockfile || !cannotLock(err)) {
		return nil, err
	}
	if there != nil {
		found = append(found, *there)
	}
	if w.items != nil {
		there, err := w.items.Holder(ctx)
		if err != nil {
			return found, err
		}
		if there != nil {
			found = append(found, *there)
		}
	}
	return w.leased(found), nil
}
