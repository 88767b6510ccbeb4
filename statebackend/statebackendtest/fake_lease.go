package statebackendtest

import (
	"bytes"
	"context"

	"github.com/lockstep-iac/lockstep/statebackend"
)

var _ statebackend.Leased = (*fakeWorkspace)(nil)

// deposed returns the error for a holder whose lock is gone or has another holder. The caller holds fake.mu.
func (w *fakeWorkspace) deposed(s *fakeState) error {
	switch {
	case w.held == "":
		return nil
	case s.lock == nil || s.lock.ID != w.held:
		return &statebackend.LockLostError{Path: w.name, ID: w.held}
	case w.lease != nil && (s.lease == nil || !s.lease.SameHolder(*w.lease)):
		return &statebackend.LockLostError{Path: w.name, ID: w.held, By: s.lease}
	}
	return nil
}

// LockLeased implements statebackend.Leased: it takes the lock with a lease.
func (w *fakeWorkspace) LockLeased(ctx context.Context, info statebackend.LockInfo, t statebackend.Term) (*statebackend.Lease, error) {
	w.fake.mu.Lock()
	defer w.fake.mu.Unlock()
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	info.Path, info.Info = w.name, statebackend.LeaseInfo(info.Info, t.Run, "")
	s := w.fake.of(w.name)
	next := statebackend.Lease{Lock: info.ID, Fence: 1, Holder: w.holder}.As(t)
	again := s.lock != nil && bytes.Equal(s.lock.Marshal(), info.Marshal()) && s.lease != nil && s.lease.SameHolder(next)
	if s.lock != nil && !again {
		return nil, &statebackend.LockedError{HeldLock: w.heldLock(s)}
	}
	if err := w.fake.write("lock "+w.name, func() { s.lock, s.lease = &info, &next }); err != nil {
		return nil, err
	}
	w.held, w.lease = info.ID, &next
	return &next, nil
}

// Renew implements statebackend.Leased: it changes the ends of this value's lease.
func (w *fakeWorkspace) Renew(ctx context.Context, t statebackend.Term) (*statebackend.Lease, error) {
	w.fake.mu.Lock()
	defer w.fake.mu.Unlock()
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if w.lease == nil {
		return nil, &statebackend.LockLostError{Path: w.name}
	}
	s := w.fake.of(w.name)
	if err := w.deposed(s); err != nil {
		return nil, err
	}
	return w.set(s, w.lease.As(t))
}

// TakeOver implements statebackend.Leased: it takes over the lock, if the lease of the lock equals the lease
// expected.
func (w *fakeWorkspace) TakeOver(ctx context.Context, expected statebackend.Lease, t statebackend.Term) (*statebackend.Lease, error) {
	w.fake.mu.Lock()
	defer w.fake.mu.Unlock()
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	s := w.fake.of(w.name)
	next := statebackend.Lease{Lock: expected.Lock, Fence: expected.Fence + 1, Holder: w.holder}.As(t)
	if s.lock == nil || s.lock.ID != expected.Lock || s.lease == nil || s.lease.Nonce != expected.Nonce && !s.lease.SameHolder(next) {
		return nil, &statebackend.LockLostError{Path: w.name, ID: expected.Lock, By: s.lease}
	}
	return w.set(s, next)
}

// set stores a lease, and makes this value the holder of the lock. The caller holds fake.mu.
func (w *fakeWorkspace) set(s *fakeState, next statebackend.Lease) (*statebackend.Lease, error) {
	if err := w.fake.write("lease "+w.name, func() { s.lease = &next }); err != nil {
		return nil, err
	}
	w.held, w.lease = next.Lock, &next
	return &next, nil
}
