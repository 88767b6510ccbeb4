package s3

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/lockstep-iac/lockstep/statebackend"
)

var _ statebackend.Leased = (*workspace)(nil)

// leasePlace returns the name of the place of leases for the Info of a lock: the table, or "" for the lock
// object.
func (w *workspace) leasePlace() string {
	if w.items != nil {
		return "lock table " + w.items.Table
	}
	return ""
}

// LockLeased takes the locks that Lock takes. With a table, the lease is in the lock item from the beginning;
// without a table, in the lock object. A crash between the writes of the object and the item leaves an
// incomplete lock.
func (w *workspace) LockLeased(ctx context.Context, info statebackend.LockInfo, t statebackend.Term) (*statebackend.Lease, error) {
	if info.ID == "" {
		panic("s3: LockLeased without an ID")
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	info.Info = statebackend.LeaseInfo(info.Info, t.Run, w.leasePlace())
	lease := statebackend.Lease{Lock: info.ID, Fence: 1, Holder: w.holder}.As(t)
	if err := w.lock(ctx, info, &lease); err != nil {
		return nil, err
	}
	return w.lease.Load(), nil
}

// soonEnough returns an error if taking the lock took longer than statebackend.FirstLease: others may already
// have released the lock as an incomplete one.
func soonEnough(info statebackend.LockInfo) error {
	if over := time.Since(info.Created); over > statebackend.FirstLease {
		return fmt.Errorf("the lock took %s: by now others may hold it for a dead one's", over.Round(time.Second))
	}
	return nil
}

// Renew replaces the lease of this holder with a lease of the new term. If the process dies before S3
// answers, either the old or the new lease is stored.
func (w *workspace) Renew(ctx context.Context, t statebackend.Term) (*statebackend.Lease, error) {
	mine := w.lease.Load()
	if mine == nil {
		return nil, &statebackend.LockLostError{Path: w.path()}
	}
	if w.items != nil {
		if err := w.sameObject(ctx, mine.Lock); err != nil {
			return nil, err
		}
	}
	// Do not take w.mu: a write of the state may hold it for long, and a renewal must not wait.
	return w.setLease(ctx, mine.SameHolder, mine.As(t))
}

// sameObject returns a *statebackend.LockLostError if this value took the lock object, and the object is gone
// or has another ID.
func (w *workspace) sameObject(ctx context.Context, id string) error {
	if !w.object.Load() {
		return nil
	}
	there, err := w.file.Holder(ctx)
	if err != nil {
		return err
	}
	if there == nil || there.Info.ID != id {
		return &statebackend.LockLostError{Path: w.path(), ID: id}
	}
	return nil
}

func (w *workspace) setLease(ctx context.Context, was func(statebackend.Lease) bool, next statebackend.Lease) (*statebackend.Lease, error) {
	w.leasing.Lock()
	defer w.leasing.Unlock()
	var err error
	if w.items != nil {
		err = w.items.SetLease(ctx, was, next)
	} else {
		err = w.file.SetLease(ctx, was, next)
	}
	if err != nil {
		return nil, err
	}
	w.lease.Store(&next)
	return &next, nil
}

// TakeOver writes the lease with the next fence. A crash after that leaves a lock of this run, and everything
// that the previous holder left unfinished.
func (w *workspace) TakeOver(ctx context.Context, expected statebackend.Lease, t statebackend.Term) (*statebackend.Lease, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !expected.Complete() {
		panic("s3: TakeOver of an incomplete lock")
	}
	there, err := w.Locks(ctx)
	if err != nil {
		return nil, err
	}
	took := heldOf(there, expected.Lock)
	if took == nil {
		return nil, &statebackend.LockLostError{Path: w.path(), ID: expected.Lock}
	}
	next := statebackend.Lease{Lock: expected.Lock, Fence: expected.Fence + 1, Holder: w.holder}.As(t)
	lease, err := w.setLease(ctx, func(now statebackend.Lease) bool {
		return now.Nonce == expected.Nonce || now.SameHolder(next)
	}, next)
	if err != nil {
		return nil, err
	}
	w.hold(took)
	// The dead holder may have written the object, but not its digest. Only the holder's announcement shows
	// that, and the first announcement of this process would replace it.
	w.unsettled = true
	if err := w.settleAnnounced(ctx); err != nil {
		return nil, fmt.Errorf("the state's digest could not be checked: %w", err)
	}
	return lease, nil
}

// hold records that this value now holds the locks in took.
func (w *workspace) hold(took *held) {
	w.held, w.unsettled, w.digest = took, false, nil
	w.object.Store(took.object)
}

// heldOf returns the lock with that ID in the form of a lock that this value holds; nil if there is none.
func heldOf(found []statebackend.HeldLock, id string) *held {
	var took *held
	for _, h := range found {
		if h.Info.ID != id {
			continue
		}
		if took == nil {
			took = &held{info: h.Info}
		}
		took.object = took.object || h.Kind == statebackend.ObjectLock
		took.item = took.item || h.Kind == statebackend.TableLock
	}
	return took
}

// letGo makes this value forget the locks that it held.
func (w *workspace) letGo() {
	w.held = nil
	w.lease.Store(nil)
	w.object.Store(false)
}

// releaseLease gives the lease of this value back, together with the lock item or the lock object. From then
// on nobody can take the lease over.
func (w *workspace) releaseLease(ctx context.Context, mine statebackend.Lease) error {
	if w.items != nil {
		return w.items.UnlockLeased(ctx, mine)
	}
	return w.file.UnlockLeased(ctx, mine)
}

// deposed is called with the error of releasing the lease, and returns it unchanged. If the error says that the
// lock is lost, deposed first makes w forget its locks.
func (w *workspace) deposed(err error) error {
	if errors.As(err, new(*statebackend.LockLostError)) {
		w.letGo()
	}
	return err
}

// withLease adds the lease to an error that names the holder of a lock. Other errors stay unchanged.
func (w *workspace) withLease(ctx context.Context, err error) error {
	var locked *statebackend.LockedError
	if !errors.As(err, &locked) || locked.Lease != nil || locked.Info.ID == "" {
		return err
	}
	there, readErr := w.Locks(ctx)
	if readErr != nil {
		return err
	}
	for _, h := range there {
		if h.Info.ID == locked.Info.ID {
			locked.Lease = h.Lease
		}
	}
	return err
}

// leased adds to each lock object in found its lease, if the Info of the object says that the lease is in
// the table. If the table has no such lease, the lock is incomplete.
func (w *workspace) leased(found []statebackend.HeldLock) []statebackend.HeldLock {
	for i := range found {
		h := &found[i]
		incomplete := statebackend.IncompleteLease(h.Info, w.leasePlace())
		if incomplete == nil || w.items == nil || h.Kind != statebackend.ObjectLock {
			continue
		}
		h.Lease = incomplete
		for _, x := range found {
			if x.Kind == statebackend.TableLock && x.Info.ID == h.Info.ID {
				h.Lease = x.Lease
			}
		}
	}
	return found
}
