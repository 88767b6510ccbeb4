package leasing

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/lockstep-iac/lockstep/statebackend"
)

// Length is the time for which a lease is taken and renewed. Others may take the lock over Length plus
// statebackend.Grace after the last renewal.
const (
	Length = 60 * time.Second
	// Margin is the last part of a lease, in which nothing new is begun. A request under way needs time, and
	// the clock of the process that takes over may be fast.
	Margin = 15 * time.Second

	interval = 20 * time.Second // between renewals
	hurry    = 5 * time.Second  // after a failed renewal
)

// A Holding is a leased lock that this process holds. It is safe for concurrent use.
type Holding struct {
	// Before is the lease that this process took over; nil means that the lock was free.
	Before *statebackend.Lease

	taker Taker

	renewing sync.Mutex // one renewal at a time; taken before mu

	mu    sync.Mutex
	lease statebackend.Lease
	asked time.Time // when the lease was last asked for; has a monotonic reading, too
	lost  error
}

func newHolding(t Taker) *Holding { return &Holding{taker: t} }

// Lease returns the lease as it was last stored.
func (h *Holding) Lease() statebackend.Lease {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.lease
}

// TookOver reports whether the lock was taken over from another holder, who may not have noticed yet. For a
// nil Holding (no lock, or a lock without a lease) it returns false.
func (h *Holding) TookOver() bool { return h != nil && h.Before != nil }

// Predecessor returns the dead run whose lock was taken over. It returns "" if the lock was free, if an earlier
// process of the same run had it, or if h is nil.
func (h *Holding) Predecessor() string {
	if !h.TookOver() || h.Before.Run == h.Lease().Run {
		return ""
	}
	return h.Before.Run
}

// next returns the term that the next request asks for.
func (h *Holding) next() statebackend.Term {
	h.mu.Lock()
	defer h.mu.Unlock()
	now := h.taker.Now()
	t := statebackend.Term{Run: h.taker.Run, Until: h.taker.HardStop, HardStop: h.taker.HardStop}
	if t.HardStop.IsZero() {
		t.Until = now.Add(Length)
		// If the wall clock was set back, others would see the lease end while this process lives.
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

// Check returns nil if something may be begun now: enough of the lease is left, or it could be renewed. After
// the lock is lost, every Check returns the same *statebackend.LockLostError.
func (h *Holding) Check(ctx context.Context) error {
	if h.good() {
		return nil
	}
	if !h.taker.HardStop.IsZero() {
		return h.failed(errors.New("the time of this process is over"))
	}
	return h.renew(ctx)
}

// Confirm renews the lease, and so finds out whether the lock is still held, even if much of the lease is
// left.
func (h *Holding) Confirm(ctx context.Context) error { return h.renew(ctx) }

// good reports whether more than Margin of the lease is left, by two clocks. The wall clock can be set by
// somebody. The monotonic clock cannot, but it stops while the machine sleeps. With a HardStop, only the wall
// clock counts, without Margin.
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

// renew asks the store for a later end of the lease.
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

// Keep renews the lease in the background until the returned function stop is called; stop waits for the end
// of the renewal. Keep calls the function ended, once, if the lock is lost, or if too little of the lease is
// left because it could not be renewed. Then nothing may be begun any more, and calls under way must be
// ended. A lease with a HardStop is not renewed.
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
