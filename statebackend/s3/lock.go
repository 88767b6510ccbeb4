package s3

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/lockstep-iac/lockstep/statebackend"
)

// held is what this value took.
type held struct {
	info   statebackend.LockInfo
	object bool // the lock object
	item   bool // the lock item
}

// cleanupTime is how long a release may take that happens because something
// else went wrong, perhaps because ctx ended.
const cleanupTime = 20 * time.Second

// Lock takes the lock object, then the lock item: the order of all tools that
// take both, so that no two of them can hold one each.
func (w *workspace) Lock(ctx context.Context, info statebackend.LockInfo) (string, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if info.ID == "" {
		info.ID = statebackend.NewLockID()
	}
	info.Path = w.path()
	took := &held{info: info}

	// A crash after this leaves a lock object, and no item. Unlock with its ID
	// clears it.
	var err error
	took.object, err = w.lockObject(ctx, info)
	if err == nil && w.items != nil {
		// A crash after this leaves both. Unlock with their ID clears them.
		if err = w.items.Lock(ctx, info); err == nil {
			took.item = true
		}
	}
	if err == nil {
		w.held = took
		w.unsettled = false
		return info.ID, nil
	}
	// Nobody will know this ID, so nothing may stay locked by it, not even what
	// an attempt left whose answer was lost.
	return "", w.abandon(ctx, took, err)
}

// lockObject takes the lock object, and says whether it did. Where the block
// does not ask for one, having no right to is no error.
func (w *workspace) lockObject(ctx context.Context, info statebackend.LockInfo) (bool, error) {
	err := w.file.Lock(ctx, info)
	if w.clearStale(ctx, err) {
		err = w.file.Lock(ctx, info)
	}
	if err == nil {
		return true, nil
	}
	if w.useLockfile || !cannotLock(err) {
		return false, err
	}
	// Who may not write it may perhaps read one that somebody else wrote.
	if there, err := w.file.Holder(ctx); err == nil && there != nil {
		return false, &statebackend.LockedError{HeldLock: *there}
	}
	w.options.Note(fmt.Sprintf("no lock object was put beside the state, so tools that look for one do not see our lock: %v", err))
	return false, nil
}

// cannotLock says whether an error means that this store has no lock object for us.
func cannotLock(err error) bool {
	return errors.Is(err, statebackend.ErrDenied) || status(err) == 501
}

// clearStale clears a lock object that a run of ours left, when somebody
// released its item by a tool that does not know the object.
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

// abandon releases what a failed Lock took or may have taken.
func (w *workspace) abandon(ctx context.Context, took *held, cause error) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), cleanupTime)
	defer cancel()
	var locked *statebackend.LockedError
	refused := errors.As(cause, &locked) || statebackend.Unreachable(cause)
	// What was refused because somebody else has it was not taken, nor what could
	// not be asked for. After any other error it may have been: releasing that is worth a try.
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

// announce checks that the locks which this value took are still there, and
// notes the next digest in the item.
func (w *workspace) announce(ctx context.Context, digest string) error {
	if w.held == nil {
		return nil
	}
	lost := &statebackend.LockLostError{Path: w.path(), ID: w.held.info.ID}
	if w.held.object {
		there, err := w.file.Holder(ctx)
		if err != nil {
			return err
		}
		if there == nil || there.Info.ID != w.held.info.ID {
			return lost
		}
	}
	if w.held.item {
		w.unsettled = true
		return w.items.Announce(ctx, w.held.info, digest)
	}
	return nil
}

// Unlock releases the item, then the object, whatever becomes of the first: in
// the order in which nobody who takes both gets in between. A crash between the
// two leaves the object, which Unlock with the same ID clears.
func (w *workspace) Unlock(ctx context.Context, id string) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.settle(ctx, id)
	var results []error
	if w.items != nil {
		results = append(results, w.items.Unlock(ctx, id))
	}
	err := w.file.Unlock(ctx, id)
	if !w.useLockfile && (w.held == nil || !w.held.object) && cannotLock(err) {
		err = statebackend.ErrNotLocked // we have no rights there, and took nothing
	}
	return w.released(id, append(results, err))
}

// released makes one answer of those of all kinds.
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
		w.held = nil
	}
	if !done {
		return statebackend.ErrNotLocked
	}
	for _, other := range others {
		w.options.Note(fmt.Sprintf("lock %s was released, but there is another: the %s", id, other))
	}
	return nil
}

// settle writes the digest that the lock's holder announced, if the object is
// what was announced: with the lock item this knowledge goes. It does what it
// can; not succeeding must not keep anybody from unlocking.
func (w *workspace) settle(ctx context.Context, id string) {
	mine := w.held != nil && w.held.info.ID == id
	if w.items == nil || mine && !w.unsettled {
		return
	}
	there, err := w.items.Holder(ctx)
	if err != nil || there == nil || there.Info.ID != id {
		return // Unlock says it
	}
	announced, err := w.items.Announced(ctx)
	if err == nil && announced != "" {
		err = w.settleAs(ctx, announced)
	}
	if err != nil {
		w.options.Note(fmt.Sprintf("the state's digest could not be checked: %v", err))
	}
}

func (w *workspace) settleAs(ctx context.Context, announced string) error {
	stored, err := w.items.Digest(ctx)
	if err != nil || stored == announced {
		return err
	}
	data, _, err := w.objects.Get(ctx, w.key)
	if err != nil || digestOf(data) != announced {
		return err
	}
	w.digest = nil
	return w.items.SetDigest(ctx, announced, stored)
}

// Locks looks at the object, then at the item.
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
	return found, nil
}
