// Package leasing takes locks that carry a lease, renews the lease while its process lives, and takes over
// the locks of dead runs. It decides by clocks, which the stores do not look at. It knows nothing of states,
// journals and plans. Start with [Taker], then [Holding].
//
// # Three defences
//
// A lock must have one holder. The lease ensures that as long as clocks are right to within
// statebackend.Grace: a holder begins nothing in the last [Margin] of its lease, and nobody takes over
// before Grace after its end. If a clock jumps, three other checks protect the state:
//
//   - The lease is replaced on condition. If two processes believe that they hold it, one of them gets an
//     error at its next renewal, and at each write of the state.
//   - A process that takes over opens the journal before it reads the state. The journal then refuses each
//     later intent of the previous holder (package journal).
//   - The write of the state is conditional on the version that its writer has read.
package leasing

import (
	"context"
	"errors"
	"time"

	"github.com/lockstep-iac/lockstep/statebackend"
)

// Workspace lists the methods that this package calls of a workspace whose locks carry leases.
type Workspace interface {
	statebackend.Locker
	statebackend.Leased
}

// A Taker takes the lock of a state for a run.
type Taker struct {
	Workspace Workspace
	// Run is the run's ID, without spaces.
	Run string
	// HardStop is the moment at which this process ends in any case. If set, the lease ends then and is not
	// renewed. If zero, the lease is short, and is renewed as long as the process lives.
	HardStop time.Time
	// Continues reports that an earlier process worked on the same run, and that a record of the caller
	// proves its end. The lock of this run is then taken over at once; other runs' locks are not.
	Continues bool
	// Now returns the wall clock's time; nil means time.Now.
	Now func() time.Time
}

// Take takes the lock, or takes over the lock of a dead run. While a live process holds the lock, Take waits
// for at most timeout. It returns the same errors as statebackend.LockWithRetry. info has an ID. If the lock
// was taken but the permissions for a lease are missing, the Holding is nil, without an error.
func (t Taker) Take(ctx context.Context, info statebackend.LockInfo, timeout time.Duration) (*Holding, error) {
	if t.Now == nil {
		t.Now = time.Now
	}
	a := &attempt{Taker: t}
	_, err := statebackend.LockWithRetry(ctx, a, info, timeout)
	return a.holding, err
}

// attempt makes a Taker a statebackend.Locker. Its Lock may also take over a lock.
type attempt struct {
	Taker
	holding *Holding
}

func (a *attempt) Unlock(ctx context.Context, id string) error { return a.Workspace.Unlock(ctx, id) }

func (a *attempt) Locks(ctx context.Context) ([]statebackend.HeldLock, error) {
	return a.Workspace.Locks(ctx)
}

func (a *attempt) Lock(ctx context.Context, info statebackend.LockInfo) (string, error) {
	h := newHolding(a.Taker)
	err := a.fresh(ctx, h, info)
	var locked *statebackend.LockedError
	if !errors.As(err, &locked) || !a.may(locked.Lease) {
		return info.ID, err
	}
	was := *locked.Lease
	if was.Complete() {
		return was.Lock, a.takeOver(ctx, h, locked)
	}
	// The lease is incomplete: a Lock or Unlock was interrupted. Nobody holds the lock. There is nothing to
	// recover except what the state or the journal says.
	if err := a.Workspace.Unlock(ctx, was.Lock); err != nil && !errors.Is(err, statebackend.ErrNotLocked) && !errors.As(err, new(*statebackend.LockMismatchError)) {
		return "", err
	}
	return info.ID, a.fresh(ctx, h, info)
}

// fresh takes a lock that nobody has.
func (a *attempt) fresh(ctx context.Context, h *Holding, info statebackend.LockInfo) error {
	info.Created = a.Now().UTC()
	term := h.next()
	lease, err := a.Workspace.LockLeased(ctx, info, term)
	if err == nil && lease != nil {
		h.got(*lease)
		a.holding = h
	}
	return err
}

// may reports whether a lock with that lease may be taken over now.
func (a *attempt) may(lease *statebackend.Lease) bool {
	switch {
	case lease == nil: // the lock of a stock tool, or of a person
		return false
	case a.Continues && lease.Run == a.Run:
		return true
	}
	return lease.Over(a.Now())
}

// takeOver makes h the holder of a lock. If another process was quicker, the error is a
// *statebackend.LockedError with that process's lease.
func (a *attempt) takeOver(ctx context.Context, h *Holding, locked *statebackend.LockedError) error {
	was := *locked.Lease
	for n := 1; ; n++ {
		term := h.next()
		lease, err := a.Workspace.TakeOver(ctx, was, term)
		var lost *statebackend.LockLostError
		switch {
		case err == nil:
			h.got(*lease)
			h.Before = &was
			a.holding = h
			return nil
		case errors.As(err, &lost) && lost.By != nil:
			held := locked.HeldLock
			held.Lease = lost.By
			return &statebackend.LockedError{HeldLock: held}
		case errors.As(err, &lost):
			return &statebackend.LockedError{HeldLock: locked.HeldLock, Err: errors.New("it has just been released")}
		case n == takeovers || statebackend.Unreachable(err) || ctx.Err() != nil:
			return err
		}
	}
}

// takeovers is the number of attempts while it is not known whether a takeover succeeded.
const takeovers = 3
