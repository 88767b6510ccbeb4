// Package leasing takes locks that carry a lease, keeps the lease alive while its process lives, and
// takes over the locks of dead runs. It decides by clocks, which the stores below do not look at, and
// refuses to know states, journals and plans. Start with [Taker], then [Holding].
//
// # Three defences
//
// A lock must have one holder. The lease sees to that as long as clocks are right to within
// statebackend.Grace: a holder begins nothing in the last [Margin] before the lease's end, and
// nobody takes over before Grace behind it. Where a clock jumps:
//
//   - the lease is swapped on condition, so that of two who think they hold it one is told at the
//     next renewal, and at each write of the state;
//   - whoever takes over opens the journal before he reads it, which refuses each later intent of
//     the one before (package journal);
//   - the write of the state is conditional on the version that its writer has read.
package leasing

import (
	"context"
	"errors"
	"time"

	"github.com/lockstep-iac/lockstep/statebackend"
)

// Workspace is the used part of a workspace whose locks carry leases.
type Workspace interface {
	statebackend.Locker
	statebackend.Leased
}

// A Taker takes the lock of a state for a run.
type Taker struct {
	Workspace Workspace
	// Run is the run's ID, without spaces.
	Run string
	// HardStop is the moment at which this process ends whatever it does; the lease is until then,
	// and is not renewed. Zero: the lease is short, and renewed as long as the process lives.
	HardStop time.Time
	// Continues is set if an earlier process worked on the same run, and a record of the caller's
	// proves that it is over: its lock is taken over at once. Nobody else's is.
	Continues bool
	// Now is the wall clock; nil: time.Now.
	Now func() time.Time
}

// Take takes the lock, or that of a dead run over, and waits for at most timeout while somebody lives
// who holds it. The errors are those of statebackend.LockWithRetry. The holding is nil without an
// error where the lock was taken, but rights for a lease are missing. The info has an ID.
func (t Taker) Take(ctx context.Context, info statebackend.LockInfo, timeout time.Duration) (*Holding, error) {
	if t.Now == nil {
		t.Now = time.Now
	}
	a := &attempt{Taker: t}
	_, err := statebackend.LockWithRetry(ctx, a, info, timeout)
	return a.holding, err
}

// attempt is a Taker as a Locker, whose Lock may also take over.
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
	// It stands for a Lock or an Unlock that was cut off: nobody holds it, and nothing is to be
	// recovered that a state or a journal does not say.
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
	case lease == nil: // of a stock tool, or of a person
		return false
	case a.Continues && lease.Run == a.Run:
		return true
	}
	return lease.Over(a.Now())
}

// takeOver makes h the holder of a lock. Whoever was quicker is its holder in the error.
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

// takeovers are the attempts of a takeover of which it is not known whether it has succeeded.
const takeovers = 3
