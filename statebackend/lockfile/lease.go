package lockfile

import (
	"context"
	"errors"
	"fmt"

	"github.com/lockstep-iac/lockstep/statebackend"
)

// LockLeased creates the object with its lease in the Info of the lock. The errors are those of Lock.
func (f *File) LockLeased(ctx context.Context, info statebackend.LockInfo, lease statebackend.Lease) error {
	return f.lock(ctx, object{info: info, lease: &lease})
}

// SetLease replaces the lease by next, on condition that the present one is complete, and one that was allows.
// If it is another one, or there is none, the error is a *statebackend.LockLostError.
func (f *File) SetLease(ctx context.Context, was func(statebackend.Lease) bool, next statebackend.Lease) error {
	found, err := f.set(ctx, func(now statebackend.Lease) bool { return now.Complete() && was(now) }, next)
	if errors.Is(err, errAnother) {
		return f.lost(found, next.Lock)
	}
	return err
}

// errAnother means that the lease is not one that may be replaced.
var errAnother = errors.New("another lease")

// set replaces the lease of next's lock. After errAnother, found is what is there.
func (f *File) set(ctx context.Context, was func(statebackend.Lease) bool, next statebackend.Lease) (found object, err error) {
	allows := func(o object) bool { return o.lease != nil && o.lease.Lock == next.Lock && was(*o.lease) }
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
		if err == nil && tag == "" { // some servers say none in the answer to a write
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
		// A refusal may be the echo of our own write, and any other error may hide one. The nonce tells.
		there, readErr := f.read(ctx)
		switch {
		case readErr == nil && there.lease != nil && there.lease.Nonce == next.Nonce:
			return there, nil
		case !errors.Is(err, ErrPrecondition) || attempt == leaseAttempts:
			return there, err
		}
	}
}

// leaseAttempts of a conditional write, between which somebody else has written.
const leaseAttempts = 5

// StillLeased returns a *statebackend.LockLostError unless the object has a lease of mine's holder.
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

// UnlockLeased deletes the object if its lease is still mine's holder's. If there is none the error is
// statebackend.ErrNotLocked, and if it is another's a *statebackend.LockLostError.
//
// Where the condition of a deletion cannot be relied on, the lease is marked as released before, on the condition
// of a write: from then on nobody can take it over. A crash after that leaves a lock that nobody holds, and
// which anybody releases by its ID.
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
		// It was released by its ID, or the tag is that of an earlier write of ours.
	}
}

// release returns the object as it is to be deleted, after errAnother one that is not mine's holder's.
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

// lost is the error of a holder who finds something else.
func (f *File) lost(now object, lock string) error {
	e := &statebackend.LockLostError{Path: f.Path, ID: lock}
	if now.lease != nil && now.lease.Lock == lock {
		e.By = now.lease
	}
	return e
}
