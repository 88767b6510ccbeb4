package leasing

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/lockstep-iac/lockstep/statebackend"
)

// The times of leases that are renewed. A lock may be taken over Length and statebackend.Grace after
// the last sign of life.
const (
	Length = 60 * time.Second
	// Margin before the lease's end nothing is begun any more: a request that is on its way needs
	// time, and the clock of whoever takes over may be fast.
	Margin = 15 * time.Second

	interval = 20 * time.Second // between renewals
	hurry    = 5 * time.Second  // after one that failed
)

// A Holding is a lock with a lease that this process holds. It is safe for concurrent use.
type Holding struct {
	// Before is the lease that was taken over; nil: the lock was free.
	Before *statebackend.Lease

	taker Taker

	renewing sync.Mutex // one renewal at a time; taken before mu

	mu    sync.Mutex
	lease statebackend.Lease
	asked time.Time // when the lease was last asked for, by the monotonic clock, too
	lost  error
}

func newHolding(t Taker) *Holding { return &Holding{taker: t} }

// Lease returns the lease as it was last stored.
func (h *Holding) Lease() statebackend.Lease {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.lease
}

// TookOver reports whether the lock was another holder's before, who may not know that yet. It is
// false for nil, which is no lock, or one without a lease.
func (h *Holding) TookOver() bool { return h != nil && h.Before != nil }

// Predecessor returns the dead run whose lock was taken over; "" if the lock was free, or this run's.
// It is "" for nil.
func (h *Holding) Predecessor() string {
	if !h.TookOver() || h.Before.Run == h.Lease().Run {
		return ""
	}
	return h.Before.Run
}

// next returns the term to ask for now.
func (h *Holding) next() statebackend.Term {
	h.mu.Lock()
	defer h.mu.Unlock()
	now := h.taker.Now()
	t := statebackend.Term{Run: h.taker.Run, Until: h.taker.HardStop, HardStop: h.taker.HardStop}
	if t.HardStop.IsZero() {
		t.Until = now.Add(Length)
		// Where the wall clock was set back others would see the lease end while we live.
		if passed := h.lease.Until.Add(time.Since(h.asked)); !h.asked.IsZero() && passed.After(t.Until) {
			t.Until = passed
		}
	}
	h.asked = time.Now()
	return t
}

func (h *Holding) got(l statebackend.Lease) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.lease = l
}

// Check returns nil if something may be begun now: the lease is good for a while, or could be renewed.
// After the lock is lost the error is a *statebackend.LockLostError, for ever.
func (h *Holding) Check(ctx context.Context) error {
	if h.good() {
		return nil
	}
	if !h.taker.HardStop.IsZero() {
		return h.failed(errors.New("the time of this process is over"))
	}
	return h.renew(ctx)
}

// Confirm asks the store whether the lock is still held, however good the lease looks.
func (h *Holding) Confirm(ctx context.Context) error { return h.renew(ctx) }

// good reports whether the lease ends later than in Margin, by the wall clock and by the monotonic one,
// which does not count while the machine sleeps, and of which nobody sets the time.
func (h *Holding) good() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.lost != nil {
		return false
	}
	if !h.taker.HardStop.IsZero() {
		return h.taker.Now().Before(h.lease.HardStop)
	}
	return h.taker.Now().Before(h.lease.Until.Add(-Margin)) && time.Since(h.asked) < Length-Margin
}

// renew asks for a later end.
func (h *Holding) renew(ctx context.Context) error {
	h.renewing.Lock()
	defer h.renewing.Unlock()
	h.mu.Lock()
	lost, before := h.lost, h.asked
	h.mu.Unlock()
	if lost != nil {
		return lost
	}
	lease, err := h.taker.Workspace.Renew(ctx, h.next())
	if err == nil {
		h.got(*lease)
		return nil
	}
	h.mu.Lock()
	h.asked = before
	h.mu.Unlock()
	return h.failed(err)
}

func (h *Holding) failed(err error) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.lost == nil && errors.As(err, new(*statebackend.LockLostError)) {
		h.lost = err
	}
	if h.lost != nil {
		return h.lost
	}
	return fmt.Errorf("the lease of the state lock %s ends at %s, and is not renewed: nothing more is begun: %w", h.lease.Lock, h.lease.Until.Format(time.RFC3339), err)
}

// Keep renews the lease in the background until stop is called, which waits. ended is called once, if
// the lock is lost, or if the lease has come to its end since it could not be renewed: nothing may be
// begun any more, and calls that are under way must be brought to an end.
func (h *Holding) Keep(ctx context.Context, ended func(error)) (stop func()) {
	if !h.taker.HardStop.IsZero() {
		return func() {}
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	var done sync.WaitGroup
	done.Go(func() {
		for pause := interval; ; {
			timer := time.NewTimer(pause)
			select {
			case <-ctx.Done():
				timer.Stop()
				return
			case <-timer.C:
			}
			err := h.renew(ctx)
			if ctx.Err() != nil {
				return
			}
			if err != nil && !h.good() {
				ended(err)
				return
			}
			if pause = interval; err != nil {
				pause = hurry
			}
		}
	})
	return func() { cancel(); done.Wait() }
}
