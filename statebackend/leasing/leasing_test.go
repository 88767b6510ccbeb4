package leasing

import (
	"context"
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lockstep-iac/lockstep/statebackend"
	"github.com/lockstep-iac/lockstep/statebackend/statebackendtest"
)

// workspace is one process's view of the state.
type workspace interface {
	statebackend.Workspace
	Workspace
}

func open(t *testing.T, f *statebackendtest.Fake) workspace {
	t.Helper()
	w, err := f.Open(statebackend.DefaultWorkspace)
	if err != nil {
		t.Fatal(err)
	}
	return w.(workspace)
}

func info() statebackend.LockInfo { return statebackend.NewLockInfo("OperationTypeApply", "1") }

// take takes the lock for a run, or fails with the error's text.
func take(t *testing.T, k Taker) *Holding {
	t.Helper()
	h, err := k.Take(t.Context(), info(), 0)
	if err != nil {
		t.Fatalf("Take: %v", err)
	}
	return h
}

// refused returns the error of a lock that somebody lives who holds it.
func refused(t *testing.T, k Taker) *statebackend.LockedError {
	t.Helper()
	h, err := k.Take(t.Context(), info(), 0)
	var locked *statebackend.LockedError
	if !errors.As(err, &locked) {
		t.Fatalf("Take: %v, %v; want a *LockedError", h, err)
	}
	return locked
}

func lost(err error) bool { return errors.As(err, new(*statebackend.LockLostError)) }

// bubble runs a test with a clock that passes at once.
func bubble(t *testing.T, f func(t *testing.T, s *statebackendtest.Fake)) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) { f(t, new(statebackendtest.Fake)) })
}

// faults returns what decides on the fate of all later writes.
func faults(s *statebackendtest.Fake) *atomic.Int64 {
	var fate atomic.Int64
	s.Faults = &statebackendtest.Faults{Decide: func(int, string) statebackendtest.Fault { return statebackendtest.Fault(fate.Load()) }}
	return &fate
}

func TestALivingHolderKeepsItsLock(t *testing.T) {
	bubble(t, func(t *testing.T, s *statebackendtest.Fake) {
		h := take(t, Taker{Workspace: open(t, s), Run: "a"})
		stop := h.Keep(t.Context(), func(err error) { t.Errorf("ended: %v", err) })
		for range 60 {
			time.Sleep(time.Minute)
			refused(t, Taker{Workspace: open(t, s), Run: "b"})
			if err := h.Check(t.Context()); err != nil {
				t.Errorf("Check: %v", err)
			}
		}
		stop()
		time.Sleep(Length + statebackend.Grace + time.Second)
		take(t, Taker{Workspace: open(t, s), Run: "b"})
	})
}

func TestADeadRunIsTakenOverInTime(t *testing.T) {
	bubble(t, func(t *testing.T, s *statebackendtest.Fake) {
		dead := take(t, Taker{Workspace: open(t, s), Run: "a"})
		other := Taker{Workspace: open(t, s), Run: "b"}
		end := dead.Lease().End()
		time.Sleep(time.Until(end))
		e := refused(t, other)
		if e.Lease == nil || !e.Lease.End().Equal(end) || !strings.Contains(e.Error(), end.Format(time.RFC3339)) {
			t.Errorf("%v, want that it may be taken over from %s on", e, end)
		}
		time.Sleep(time.Nanosecond)
		h := take(t, other)
		if h.Before == nil || h.Before.Run != "a" || h.Lease().Fence != 2 || h.Lease().Lock != dead.Lease().Lock {
			t.Errorf("taken over: %+v, before: %+v", h.Lease(), h.Before)
		}
		if err := dead.Check(t.Context()); !lost(err) {
			t.Errorf("Check of the dead: %v", err)
		}
	})
}

// Only another run's death makes it a predecessor; a process that takes over may have met its own run.
func TestPredecessor(t *testing.T) {
	for name, c := range map[string]struct {
		before, run         string
		tookOver, continues bool
		want                string
	}{
		"a free lock":    {"", "b", false, false, ""},
		"a dead run":     {"a", "b", true, false, "a"},
		"the same again": {"b", "b", true, true, ""},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, s *statebackendtest.Fake) {
				if c.before != "" {
					first := take(t, Taker{Workspace: open(t, s), Run: c.before, HardStop: time.Now().Add(time.Minute)})
					time.Sleep(time.Until(first.Lease().End()) + time.Nanosecond)
				}
				h := take(t, Taker{Workspace: open(t, s), Run: c.run, Continues: c.continues})
				if h.TookOver() != c.tookOver || h.Predecessor() != c.want {
					t.Errorf("TookOver() = %t, Predecessor() = %q; want %t, %q", h.TookOver(), h.Predecessor(), c.tookOver, c.want)
				}
			})
		})
	}
	if h := (*Holding)(nil); h.TookOver() || h.Predecessor() != "" {
		t.Error("no lock has a predecessor")
	}
}

func TestWaitingTakesOver(t *testing.T) {
	bubble(t, func(t *testing.T, s *statebackendtest.Fake) {
		take(t, Taker{Workspace: open(t, s), Run: "a"})
		h, err := Taker{Workspace: open(t, s), Run: "b"}.Take(t.Context(), info(), 2*time.Minute)
		if err != nil || h.Before == nil {
			t.Fatalf("Take: %+v, %v", h, err)
		}
	})
}

// A lock without a lease is never ours to take.
func TestAStockLockIsNeverTakenOver(t *testing.T) {
	bubble(t, func(t *testing.T, s *statebackendtest.Fake) {
		stock := info()
		if _, err := open(t, s).Lock(t.Context(), stock); err != nil {
			t.Fatal(err)
		}
		time.Sleep(365 * 24 * time.Hour)
		for _, k := range []Taker{{Run: "b"}, {Run: "b", Continues: true}, {Run: "", Continues: true}} {
			k.Workspace = open(t, s)
			if e := refused(t, k); e.Info.ID != stock.ID || e.Lease != nil {
				t.Errorf("%+v", e)
			}
		}
	})
}

func TestAHardStop(t *testing.T) {
	bubble(t, func(t *testing.T, s *statebackendtest.Fake) {
		stop := time.Now().Add(15 * time.Minute)
		h := take(t, Taker{Workspace: open(t, s), Run: "a", HardStop: stop})
		h.Keep(t.Context(), func(err error) { t.Errorf("ended: %v", err) })()
		time.Sleep(15*time.Minute - 1)
		if err := h.Check(t.Context()); err != nil {
			t.Errorf("Check before the end: %v", err)
		}
		time.Sleep(time.Nanosecond)
		if err := h.Check(t.Context()); err == nil {
			t.Error("after the end of the process something may be begun")
		}
		time.Sleep(statebackend.Grace)
		refused(t, Taker{Workspace: open(t, s), Run: "b"})
		time.Sleep(time.Nanosecond)
		take(t, Taker{Workspace: open(t, s), Run: "b"})
	})
}

func TestTheSameRunGoesOnAtOnce(t *testing.T) {
	bubble(t, func(t *testing.T, s *statebackendtest.Fake) {
		stop := time.Now().Add(15 * time.Minute)
		first := take(t, Taker{Workspace: open(t, s), Run: "a", HardStop: stop})
		refused(t, Taker{Workspace: open(t, s), Run: "a"})
		refused(t, Taker{Workspace: open(t, s), Run: "b", Continues: true})
		second := take(t, Taker{Workspace: open(t, s), Run: "a", Continues: true, HardStop: stop.Add(time.Minute)})
		if second.Before == nil || second.Lease().Fence != 2 || second.Lease().Lock != first.Lease().Lock {
			t.Errorf("%+v, before: %+v", second.Lease(), second.Before)
		}
		if _, err := first.taker.Workspace.Renew(t.Context(), statebackend.Term{Run: "a"}); !lost(err) {
			t.Errorf("Renew of the first: %v", err)
		}
		third := take(t, Taker{Workspace: open(t, s), Run: "a", Continues: true, HardStop: stop.Add(time.Hour)})
		if third.Lease().Fence != 3 {
			t.Errorf("%+v", third.Lease())
		}
	})
}

func TestOneOfManyTakesOver(t *testing.T) {
	bubble(t, func(t *testing.T, s *statebackendtest.Fake) {
		take(t, Taker{Workspace: open(t, s), Run: "a"})
		time.Sleep(time.Hour)
		var won atomic.Int32
		var wg sync.WaitGroup
		for range 50 {
			k := Taker{Workspace: open(t, s), Run: statebackend.NewLockID()}
			wg.Go(func() {
				_, err := k.Take(context.WithoutCancel(t.Context()), info(), 0)
				var locked *statebackend.LockedError
				if err == nil {
					won.Add(1)
				} else if !errors.As(err, &locked) || locked.Lease == nil || locked.Lease.Fence != 2 {
					t.Errorf("%v; want a *LockedError with the winner's lease", err)
				}
			})
		}
		wg.Wait()
		if n := won.Load(); n != 1 {
			t.Errorf("%d have taken over", n)
		}
	})
}

// Two continuations of one run: a record that was read twice does not make two holders.
func TestOneOfManyContinues(t *testing.T) {
	bubble(t, func(t *testing.T, s *statebackendtest.Fake) {
		first := take(t, Taker{Workspace: open(t, s), Run: "a", HardStop: time.Now().Add(time.Hour)})
		was := first.Lease()
		one, two := open(t, s), open(t, s)
		term := statebackend.Term{Run: "a", Until: time.Now().Add(time.Hour)}
		if _, err := one.TakeOver(t.Context(), was, term); err != nil {
			t.Fatal(err)
		}
		if _, err := two.TakeOver(t.Context(), was, term); !lost(err) {
			t.Errorf("the second TakeOver of one lease: %v", err)
		}
	})
}

// The clock of whoever takes over is wrong by a day: the living holder is deposed, and told.
func TestAClockThatJumpsForwardElsewhere(t *testing.T) {
	bubble(t, func(t *testing.T, s *statebackendtest.Fake) {
		w := open(t, s)
		h := take(t, Taker{Workspace: w, Run: "a"})
		ended := make(chan error, 1)
		defer h.Keep(t.Context(), func(err error) { ended <- err })()
		v, err := w.Put(t.Context(), []byte("1"), "")
		if err != nil {
			t.Fatal(err)
		}
		fast := Taker{Workspace: open(t, s), Run: "b", Now: func() time.Time { return time.Now().Add(24 * time.Hour) }}
		if take(t, fast).Before == nil {
			t.Fatal("not taken over")
		}
		taken := time.Now()
		if _, err := w.Put(t.Context(), []byte("2"), v); !lost(err) {
			t.Errorf("Put of the deposed: %v", err)
		}
		if err := <-ended; !lost(err) || time.Since(taken) > interval {
			t.Errorf("ended after %s: %v", time.Since(taken), err)
		}
		if err := h.Check(t.Context()); !lost(err) {
			t.Errorf("Check of the deposed: %v", err)
		}
		if err := w.Unlock(t.Context(), h.Lease().Lock); !lost(err) {
			t.Errorf("Unlock of the deposed: %v", err)
		}
		refused(t, Taker{Workspace: open(t, s), Run: "c"})
	})
}

// The holder's own clock is set back by a day: its lease must not look over to others.
func TestAClockThatIsSetBack(t *testing.T) {
	bubble(t, func(t *testing.T, s *statebackendtest.Fake) {
		var offset atomic.Int64
		clock := func() time.Time { return time.Now().Add(time.Duration(offset.Load())) }
		h := take(t, Taker{Workspace: open(t, s), Run: "a", Now: clock})
		defer h.Keep(t.Context(), func(err error) { t.Errorf("ended: %v", err) })()
		offset.Store(int64(-24 * time.Hour))
		for range 10 {
			time.Sleep(time.Minute)
			refused(t, Taker{Workspace: open(t, s), Run: "b"})
			if err := h.Check(t.Context()); err != nil {
				t.Errorf("Check: %v", err)
			}
		}
	})
}

// A holder that cannot renew must not trust a clock that was set back: the monotonic one tells.
func TestTheMonotonicClockEndsALease(t *testing.T) {
	bubble(t, func(t *testing.T, s *statebackendtest.Fake) {
		var offset atomic.Int64
		clock := func() time.Time { return time.Now().Add(time.Duration(offset.Load())) }
		fate := faults(s)
		h := take(t, Taker{Workspace: open(t, s), Run: "a", Now: clock})
		fate.Store(int64(statebackendtest.Failed))
		offset.Store(int64(-24 * time.Hour))
		time.Sleep(Length - Margin - 1)
		if err := h.Check(t.Context()); err != nil {
			t.Errorf("Check in time: %v", err)
		}
		time.Sleep(time.Nanosecond)
		if err := h.Check(t.Context()); err == nil {
			t.Error("the lease is trusted longer than it is")
		}
	})
}

// The process sleeps, which its monotonic clock does not count, and wakes up after its end.
func TestWakingUp(t *testing.T) {
	for _, taken := range []bool{false, true} {
		t.Run(map[bool]string{true: "taken over", false: "still ours"}[taken], func(t *testing.T) {
			bubble(t, func(t *testing.T, s *statebackendtest.Fake) {
				var slept atomic.Int64
				clock := func() time.Time { return time.Now().Add(time.Duration(slept.Load())) }
				h := take(t, Taker{Workspace: open(t, s), Run: "a", Now: clock})
				slept.Store(int64(time.Hour))
				if taken {
					take(t, Taker{Workspace: open(t, s), Run: "b", Now: clock})
				}
				if err := h.Check(t.Context()); lost(err) != taken || !taken && err != nil {
					t.Errorf("Check: %v", err)
				}
			})
		})
	}
}

func TestRenewalsThatFail(t *testing.T) {
	bubble(t, func(t *testing.T, s *statebackendtest.Fake) {
		fate := faults(s)
		h := take(t, Taker{Workspace: open(t, s), Run: "a"})
		began := time.Now()
		ended := make(chan time.Duration, 1)
		defer h.Keep(t.Context(), func(error) { ended <- time.Since(began) })()
		fate.Store(int64(statebackendtest.Failed))
		time.Sleep(32 * time.Second)
		if err := h.Check(t.Context()); err != nil {
			t.Errorf("Check long before the end: %v", err)
		}
		fate.Store(int64(statebackendtest.None))
		time.Sleep(hurry)
		if left := time.Until(h.Lease().Until); left < Length-hurry {
			t.Errorf("it was not renewed as soon as that was possible: it has %s", left)
		}
		fate.Store(int64(statebackendtest.Failed))
		good := h.Lease().Until.Sub(began) - Margin
		if at := <-ended; at < good || at > good+hurry {
			t.Errorf("ended after %s, want soon after %s", at, good)
		}
		if err := h.Check(t.Context()); err == nil || lost(err) || !strings.Contains(err.Error(), "nothing more is begun") {
			t.Errorf("Check: %v", err)
		}
	})
}

// A renewal that was stored though it failed is our own.
func TestARenewalWhoseAnswerIsLost(t *testing.T) {
	bubble(t, func(t *testing.T, s *statebackendtest.Fake) {
		fate := faults(s)
		h := take(t, Taker{Workspace: open(t, s), Run: "a"})
		fate.Store(int64(statebackendtest.Persisted))
		time.Sleep(Length)
		if err := h.Check(t.Context()); err == nil || lost(err) {
			t.Fatalf("Check: %v", err)
		}
		fate.Store(int64(statebackendtest.None))
		if err := h.Check(t.Context()); err != nil {
			t.Errorf("the next Check: %v", err)
		}
	})
}

// A Lock that was cut off between its two halves is released, not taken over.
func TestAnIncompleteLock(t *testing.T) {
	bubble(t, func(t *testing.T, s *statebackendtest.Fake) {
		half := info()
		half.Info = statebackend.LeaseInfo("", "a", "")
		if _, err := open(t, s).Lock(t.Context(), half); err != nil {
			t.Fatal(err)
		}
		incomplete := &halves{workspace: open(t, s)}
		time.Sleep(statebackend.FirstLease + statebackend.Grace)
		refused(t, Taker{Workspace: incomplete, Run: "b"})
		time.Sleep(time.Second)
		h := take(t, Taker{Workspace: incomplete, Run: "b"})
		if h.Before != nil || h.Lease().Fence != 1 || h.Lease().Lock == half.ID {
			t.Errorf("%+v, before: %+v", h.Lease(), h.Before)
		}
	})
}

// halves sees locks without a lease as a store does whose locks have two parts.
type halves struct{ workspace }

func (h *halves) LockLeased(ctx context.Context, i statebackend.LockInfo, t statebackend.Term) (*statebackend.Lease, error) {
	lease, err := h.workspace.LockLeased(ctx, i, t)
	var locked *statebackend.LockedError
	if errors.As(err, &locked) && locked.Lease == nil {
		locked.Lease = statebackend.IncompleteLease(locked.Info, "")
	}
	return lease, err
}
