package lockfile

import (
	"context"
	"errors"
	"fmt"

	"github.com/lockstep-iac/lockstep/statebackend"
)

// LockLeased creates the object with its lease in the Info of the lock. It returns the same errors as
// [File.Lock].
func (f *File) LockLeased(ctx context.Context, info statebackend.LockInfo, lease statebackend.Lease) error {
	return f.lock(ctx, object{info: info, lease: &lease})
}

// SetLease replaces the lease with the lease next. The condition is that the stored lease is complete, and that
// the function expected returns true for it. If not, or if there is no lease, the error is a
// *statebackend.LockLostError.
func (f *File) SetLease(ctx context.Context, expected func(statebackend.Lease) bool, next statebackend.Lease) error {
	found, err := f.set(ctx, func(now statebackend.Lease) bool { return now.Complete() && expected(now) }, next)
	if errors.Is(err, errAnother) {
		return f.lost(found, next.Lock)
	}
	return err
}

// errAnother means that the stored lease may not be replaced.
var errAnother = errors.New("another lease")

// set replaces the lease of the lock next.Lock, if the function expected returns true for the stored lease. If
// not, the error is errAnother, and found is the stored object.
func (f *File) set(ctx context.Context, expected func(statebackend.Lease) bool, next statebackend.Lease) (found object, err error) {
	allows := func(o object) bool { return o.lease != nil && o.lease.Lock == next.Lock && expected(*o.lease) }
	for attempt := 1; ; attempt++ {
		now, known := f.take()
		if !known || !allows(now) {
			if now, err = f.read(ctx); err != nil {
				return now, err
			}
		}
		if !allows(now) {
			return now, errAnother
		}
		now.lease = &next
		tag, err := f.Objects.Put(ctx, f.Key, now.body(), now.tag)
		if err == nil && tag == "" { // some servers return no tag for a write
			return f.read(ctx)
		}
		if err == nil {
			now.tag = tag
			f.remember(now)
			return now, nil
		}
		if statebackend.Unreachable(err) {
			return now, err
		}
		// This process may have caused the refusal itself, by an earlier write. And after any other error, the
		// write may have succeeded. The nonce shows whether this process wrote the stored object.
		there, readErr := f.read(ctx)
		switch {
		case readErr == nil && there.lease != nil && there.lease.Nonce == next.Nonce:
			return there, nil
		case !errors.Is(err, ErrPrecondition) || attempt == leaseAttempts:
			return there, err
		}
	}
}

// leaseAttempts is the number of times that a conditional write is tried while others write in between.
const leaseAttempts = 5

// StillLeased returns a *statebackend.LockLostError unless the stored lease has the same holder as the lease
// mine.
func (f *File) StillLeased(ctx context.Context, mine statebackend.Lease) error {
	now, err := f.read(ctx)
	if err != nil {
		return err
	}
	if now.lease == nil || !now.lease.SameHolder(mine) {
		return f.lost(now, mine.Lock)
	}
	return nil
}

// UnlockLeased deletes the object if the stored lease has the same holder as the lease mine. If there is no
// object, the error is statebackend.ErrNotLocked. If the lease has another holder, it is a
// *statebackend.LockLostError.
//
// If the server may ignore the condition of a deletion, UnlockLeased first marks the lease as released, by a
// conditional write: from then on nobody can take the lease over. A crash after that write leaves a lock
// without a holder, which anybody may release by its ID.
func (f *File) UnlockLeased(ctx context.Context, mine statebackend.Lease) error {
	for attempt := 1; ; attempt++ {
		now, err := f.release(ctx, mine)
		switch {
		case err != nil && !errors.Is(err, errAnother):
			return err
		case now.tag == "":
			return statebackend.ErrNotLocked
		case now.lease == nil || !now.lease.SameHolder(mine):
			return f.lost(now, mine.Lock)
		}
		err = f.Objects.Delete(ctx, f.Key, now.tag)
		f.take()
		if err == nil {
			return nil
		}
		if !errors.Is(err, ErrPrecondition) || attempt == leaseAttempts {
			return fmt.Errorf("release the lock object: %w", err)
		}
		// Somebody released the lock by its ID, or this process has remembered the tag of an earlier write.
	}
}

// release returns the object that is to be deleted. If the object's lease has another holder than the lease
// mine, the error is errAnother.
func (f *File) release(ctx context.Context, mine statebackend.Lease) (object, error) {
	if !f.Strict {
		mine.Released = true
		return f.set(ctx, mine.SameHolder, mine.As(mine.Term))
	}
	if last, known := f.take(); known {
		return last, nil
	}
	return f.read(ctx)
}

// lost returns the error for a holder whose lock is gone. The parameter now is the object found in its
// place.
func (f *File) lost(now object, lock string) error {
	e := &statebackend.LockLostError{Path: f.Path, ID: lock}
	if now.lease != nil && now.lease.Lock == lock {
		e.By = now.lease
	}
	return e
}
