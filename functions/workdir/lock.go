package workdir

import (
	"context"
	"errors"
	"time"

	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/statebackend"
	"github.com/lockstep-iac/lockstep/statebackend/leasing"
)

// A Locking says how to take the lock of a state. If the backend supports it, the lock gets a lease: see
// [leasing.Taker].
type Locking struct {
	Info statebackend.LockInfo
	// Timeout is how long to wait while somebody else has the lock.
	Timeout time.Duration
	// Run is the ID of the run that takes the lock; "" means a new ID.
	Run string
	// HardStop and Continues are passed on to [leasing.Taker].
	HardStop  time.Time
	Continues bool
	// Now is the wall clock; nil means time.Now.
	Now func() time.Time
}

// Lock is [State.TakeLock] with an error message for the command line.
func (s *State) Lock(ctx context.Context, l Locking) diags.Diagnostics {
	err := s.TakeLock(ctx, l)
	if err == nil {
		return nil
	}
	var locked *statebackend.LockedError
	if errors.As(err, &locked) {
		return lockedBy(s.Workspace.Place(), locked)
	}
	return diags.FromError("Error acquiring the state lock", err)
}

// TakeLock takes the lock. It takes over the lock of a run whose lease has ended; see [leasing.Taker] and
// [State.Holding].
func (s *State) TakeLock(ctx context.Context, l Locking) error {
	w, ok := s.Workspace.(leasing.Workspace)
	if !ok {
		id, err := statebackend.LockWithRetry(ctx, s.Workspace, l.Info, l.Timeout)
		if err == nil {
			s.lockID = id
		}
		return err
	}
	if l.Run == "" {
		l.Run = statebackend.NewLockID()
	}
	h, err := leasing.Taker{Workspace: w, Run: l.Run, HardStop: l.HardStop, Continues: l.Continues, Now: l.Now}.Take(ctx, l.Info, l.Timeout)
	if err != nil {
		return err
	}
	s.lockID = l.Info.ID
	if h != nil {
		s.keep(ctx, h)
	}
	return nil
}

// keep renews the lease in the background, until Unlock or Rest is called.
func (s *State) keep(ctx context.Context, h *leasing.Holding) {
	s.lockID, s.holding = h.Lease().Lock, h
	life, end := context.WithCancelCause(context.Background())
	s.life, s.rest = life, h.Keep(ctx, end)
}

// Rest stops renewing the lease, if there is one, but does not unlock. The caller is about to end.
func (s *State) Rest() {
	if s.rest != nil {
		s.rest()
		s.rest = nil
	}
}

// Leave keeps the state locked, for the process that continues the run or takes the lock over. After Leave,
// Unlock does nothing.
func (s *State) Leave() {
	s.Rest()
	s.lockID = ""
}

// Holding returns the lock with its lease; nil if the lock has no lease.
func (s *State) Holding() *leasing.Holding { return s.holding }

// While returns a context that ends when ctx ends, or when the lease is lost. The cause of that context is
// then the reason.
func (s *State) While(ctx context.Context) (context.Context, context.CancelCauseFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	if s.holding == nil {
		return ctx, cancel
	}
	unwatch := context.AfterFunc(s.life, func() { cancel(context.Cause(s.life)) })
	return ctx, func(cause error) { unwatch(); cancel(cause) }
}

// lockedBy returns the error which says that another run has the lock. The error names that run. Programs
// parse the text, which is Terraform's.
func lockedBy(place string, e *statebackend.LockedError) diags.Diagnostics {
	const summary = "Error acquiring the state lock"
	if e.Info.ID == "" {
		return diags.Errorf(nil, summary, "The state at %s is locked, and the lock does not name its owner: %s. Wait until the other run has finished, then try again.", place, e)
	}
	if e.Lease != nil {
		return diags.Errorf(nil, summary,
			"The state at %s is locked by a %s.\n\n%s\nThe lock keeps two runs from writing the state at the same time. Wait until that run has finished, then try again. If its process has died, you need not clear the lock: from %s on, \"lockstep plan\", \"lockstep apply\" or \"lockstep recover\" takes the lock over. If there is a journal beside the state, the results of the dead run come into the state, too.\n\nThe option -lock=false ignores the lock. Each run may then overwrite what the other writes.",
			place, e.Kind, e.Info, e.Lease.End().UTC().Format(time.RFC3339))
	}
	return diags.Errorf(nil, summary,
		"The state at %s is locked by a %s.\n\n%s\nThe lock keeps two runs from writing the state at the same time. Wait until that run has finished, then try again. If you are sure that its process has died, clear the lock:\n  lockstep force-unlock %s\n\nThe option -lock=false ignores the lock. Each run may then overwrite what the other writes.",
		place, e.Kind, e.Info, e.Info.ID)
}

// Unlock releases the lock that Lock took. If Lock took no lock, Unlock does nothing. If another run has taken
// the lock over, the lock stays.
func (s *State) Unlock(ctx context.Context) diags.Diagnostics {
	if s.lockID == "" {
		return nil
	}
	s.Rest()
	id := s.lockID
	err := s.Workspace.Unlock(ctx, id)
	var lost *statebackend.LockLostError
	if errors.As(err, &lost) {
		s.lockID, s.holding = "", nil
		return diags.Warningf(nil, "The state lock was lost", "%s. Lockstep does not release it: the run that now has the lock does.", lost)
	}
	if err != nil && !errors.Is(err, statebackend.ErrNotLocked) {
		if s.holding != nil {
			return diags.Errorf(nil, "Error releasing the state lock",
				"%s. The state is still locked by %s. From %s on, the next plan or apply takes the lock over. To clear it now, run \"lockstep force-unlock %s\".",
				err, id, s.holding.Lease().End().UTC().Format(time.RFC3339), id)
		}
		return diags.Errorf(nil, "Error releasing the state lock",
			"%s. The state is still locked by %s. To clear the lock, run \"lockstep force-unlock %s\".", err, id, id)
	}
	s.lockID, s.holding = "", nil
	return nil
}
