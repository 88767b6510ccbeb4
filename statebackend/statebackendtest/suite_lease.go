package statebackendtest

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/lockstep-iac/lockstep/statebackend"
)

// leaseTests test [statebackend.Leased]. A backend without leases skips them.
var leaseTests = []contractTest{
	{"a leased lock shows its lease, and speaks to people", leaseShows},
	{"a leased lock keeps others out, who see its lease", leaseKeepsOut},
	{"Renew moves the ends", leaseRenewed},
	{"a takeover keeps the lock and raises the fence", leaseTakenOver},
	{"whoever was deposed can neither renew, write nor unlock", leaseDeposed},
	{"a stale view of a lease takes nothing over", leaseStale},
	{"of many that take over one wins", leaseRace},
	{"a lock without a lease has none", leaseNone},
	{"a released lease is not taken over", leaseReleased},
	{"a person releases a leased lock by its ID", leaseForced},
	{"writes and renewals side by side keep both", leaseBusy},
}

// leased returns a function that opens the default workspace. Each call opens it again, as another process
// would.
func (s Suite) leased(t *testing.T) func() leasedWorkspace {
	t.Helper()
	b := s.Open(t)
	return func() leasedWorkspace {
		w, ok := openWorkspace(t, b, statebackend.DefaultWorkspace).(leasedWorkspace)
		if ok != s.Leases {
			t.Fatalf("locks can carry leases: %v, want %v", ok, s.Leases)
		}
		if !ok {
			t.Skip("this backend has no leases")
		}
		return w
	}
}

type leasedWorkspace interface {
	statebackend.Workspace
	statebackend.Leased
}

func termOf(run string, until time.Duration) statebackend.Term {
	return statebackend.Term{Run: run, Until: time.Now().Add(until)}
}

func mustLease(t *testing.T, w leasedWorkspace, run string) (id string) {
	t.Helper()
	info := statebackend.NewLockInfo("OperationTypeApply", "1.2.3")
	lease, err := w.LockLeased(t.Context(), info, termOf(run, time.Minute))
	if err != nil || lease == nil {
		t.Fatalf("LockLeased: %v, %v", lease, err)
	}
	return info.ID
}

// lockSeen returns the only lock, as Locks reports it to any process.
func lockSeen(t *testing.T, w statebackend.Workspace) statebackend.HeldLock {
	t.Helper()
	held, err := w.Locks(t.Context())
	if err != nil || len(held) == 0 {
		t.Fatalf("Locks: %v, %v", held, err)
	}
	for _, h := range held[1:] {
		if h.Info != held[0].Info || (h.Lease == nil) != (held[0].Lease == nil) || h.Lease != nil && *h.Lease != *held[0].Lease {
			t.Fatalf("two locks: %+v, %+v", held[0], h)
		}
	}
	return held[0]
}

func mustTakeOver(t *testing.T, w leasedWorkspace, run string) *statebackend.Lease {
	t.Helper()
	lease, err := w.TakeOver(t.Context(), *lockSeen(t, w).Lease, termOf(run, time.Minute))
	if err != nil {
		t.Fatalf("TakeOver: %v", err)
	}
	return lease
}

func wantLost(t *testing.T, what string, err error, by string) {
	t.Helper()
	var lost *statebackend.LockLostError
	switch {
	case !errors.As(err, &lost):
		t.Errorf("%s: %v; want a *LockLostError", what, err)
	case by != "" && (lost.By == nil || lost.By.Run != by || !strings.Contains(err.Error(), by)):
		t.Errorf("%s: %v; want the name of the run %s", what, err, by)
	}
}

func leaseShows(t *testing.T, s Suite) {
	open := s.leased(t)
	mine, theirs := open(), open()
	id := mustLease(t, mine, "run-1")
	h := lockSeen(t, theirs)
	if h.Info.ID != id || h.Lease == nil || h.Lease.Run != "run-1" || h.Lease.Fence != 1 || h.Lease.Lock != id || !h.Lease.Complete() {
		t.Errorf("%+v, %+v", h, h.Lease)
	}
	for _, word := range []string{"Lockstep run run-1", "lockstep recover", "do not force-unlock"} {
		if !strings.Contains(h.Info.Info, word) {
			t.Errorf("its Info %q does not say %q", h.Info.Info, word)
		}
	}
	mustUnlock(t, mine, id)
	mustUnlock(t, theirs, mustLease(t, theirs, "run-2"))
}

func leaseKeepsOut(t *testing.T, s Suite) {
	open := s.leased(t)
	mine, theirs := open(), open()
	id := mustLease(t, mine, "run-1")
	_, err := theirs.LockLeased(t.Context(), statebackend.NewLockInfo("OperationTypeApply", "1"), termOf("run-2", time.Minute))
	_, err2 := theirs.Lock(t.Context(), statebackend.NewLockInfo("OperationTypeApply", "1"))
	for _, err := range []error{err, err2} {
		var locked *statebackend.LockedError
		if !errors.As(err, &locked) || locked.Info.ID != id || locked.Lease == nil || locked.Lease.Run != "run-1" {
			t.Errorf("%v; want a *LockedError with the lease", err)
		}
	}
	mustUnlock(t, mine, id)
}

func leaseRenewed(t *testing.T, s Suite) {
	open := s.leased(t)
	mine, theirs := open(), open()
	id := mustLease(t, mine, "run-1")
	before := *lockSeen(t, theirs).Lease
	want := termOf("run-1", time.Hour)
	want.HardStop = want.Until.Add(time.Hour)
	if _, err := mine.Renew(t.Context(), want); err != nil {
		t.Fatal(err)
	}
	now := *lockSeen(t, theirs).Lease
	if !now.Until.Equal(want.Until) || !now.HardStop.Equal(want.HardStop) || !now.SameHolder(before) || now.Nonce == before.Nonce {
		t.Errorf("%+v\nafter %+v", now, before)
	}
	mustPut(t, mine, `{"serial":1}`, "")
	if now := *lockSeen(t, theirs).Lease; !now.Until.Equal(want.Until) {
		t.Errorf("a write changed the lease: %+v", now)
	}
	mustUnlock(t, mine, id)
}

func leaseTakenOver(t *testing.T, s Suite) {
	open := s.leased(t)
	mine, theirs := open(), open()
	id := mustLease(t, mine, "run-1")
	v := mustPut(t, mine, `{"serial":1}`, "")
	before := lockSeen(t, theirs)
	lease := mustTakeOver(t, theirs, "run-2")
	after := lockSeen(t, open())
	if after.Info != before.Info {
		t.Errorf("Info was %+v, is %+v", before.Info, after.Info)
	}
	if lease.Fence != 2 || lease.Run != "run-2" || *after.Lease != *lease {
		t.Errorf("the lease is %+v, stored is %+v", lease, after.Lease)
	}
	mustPut(t, theirs, `{"serial":2}`, v)
	mustUnlock(t, theirs, id)
	if held, err := theirs.Locks(t.Context()); err != nil || len(held) > 0 {
		t.Errorf("then Locks = %v, %v", held, err)
	}
}

func leaseDeposed(t *testing.T, s Suite) {
	open := s.leased(t)
	mine, theirs := open(), open()
	id := mustLease(t, mine, "run-1")
	v := mustPut(t, mine, `{"serial":1}`, "")
	mustTakeOver(t, theirs, "run-2")

	_, err := mine.Renew(t.Context(), termOf("run-1", time.Hour))
	wantLost(t, "Renew", err, "run-2")
	_, err = mine.Put(t.Context(), []byte(`{"serial":2}`), v)
	wantLost(t, "Put", err, "run-2")
	wantLost(t, "Unlock", mine.Unlock(t.Context(), id), "run-2")

	if h := lockSeen(t, mine); h.Lease == nil || h.Lease.Run != "run-2" {
		t.Errorf("the lock is %+v", h)
	}
	if _, err := theirs.Renew(t.Context(), termOf("run-2", time.Hour)); err != nil {
		t.Errorf("Renew of the holder: %v", err)
	}
	mustPut(t, theirs, `{"serial":3}`, v)
	mustUnlock(t, theirs, id)
}

func leaseStale(t *testing.T, s Suite) {
	open := s.leased(t)
	mine, theirs := open(), open()
	id := mustLease(t, mine, "run-1")
	seen := *lockSeen(t, theirs).Lease
	if _, err := mine.Renew(t.Context(), seen.Term); err != nil { // with the same ends
		t.Fatal(err)
	}
	_, err := theirs.TakeOver(t.Context(), seen, termOf("run-2", time.Hour))
	wantLost(t, "TakeOver of a lease that was renewed", err, "run-1")
	mustPut(t, mine, `{"serial":1}`, "")
	seen = *lockSeen(t, theirs).Lease
	mustUnlock(t, mine, id)
	_, err = theirs.TakeOver(t.Context(), seen, termOf("run-2", time.Hour))
	wantLost(t, "TakeOver of a lock that is gone", err, "")
	id = mustLease(t, mine, "run-1")
	_, err = theirs.TakeOver(t.Context(), seen, termOf("run-2", time.Hour))
	wantLost(t, "TakeOver of the lock before", err, "")
	mustUnlock(t, mine, id)
}

func leaseRace(t *testing.T, s Suite) {
	open := s.leased(t)
	mine := open()
	id := mustLease(t, mine, "run-1")
	v := mustPut(t, mine, `{"serial":1}`, "")
	seen := *lockSeen(t, mine).Lease
	all, errs := make([]leasedWorkspace, racers), make([]error, racers)
	var wg sync.WaitGroup
	for i := range racers {
		all[i] = open()
		wg.Go(func() {
			_, errs[i] = all[i].TakeOver(context.WithoutCancel(t.Context()), seen, termOf("run-2", time.Hour))
		})
	}
	wg.Wait()
	var winner leasedWorkspace
	for i, err := range errs {
		var lost *statebackend.LockLostError
		switch {
		case err == nil && winner != nil:
			t.Error("two have taken over")
		case err == nil:
			winner = all[i]
		case !errors.As(err, &lost):
			t.Errorf("%v; want a *LockLostError", err)
		}
	}
	if winner == nil {
		t.Fatal("nobody has taken over")
	}
	for i, err := range errs {
		if err != nil {
			wantLost(t, "the loser's Renew", second(all[i].Renew(t.Context(), termOf("run-2", time.Hour))), "")
		}
	}
	mustPut(t, winner, `{"serial":2}`, v)
	mustUnlock(t, winner, id)
}

func second[T any](_ T, err error) error { return err }

func leaseNone(t *testing.T, s Suite) {
	open := s.leased(t)
	mine, theirs := open(), open()
	id := mustLock(t, mine)
	if h := lockSeen(t, theirs); h.Lease != nil {
		t.Errorf("the lease is %+v", h.Lease)
	}
	_, err := theirs.LockLeased(t.Context(), statebackend.NewLockInfo("OperationTypeApply", "1"), termOf("run-2", time.Minute))
	var locked *statebackend.LockedError
	if !errors.As(err, &locked) || locked.Info.ID != id || locked.Lease != nil {
		t.Errorf("%v; want a *LockedError without a lease", err)
	}
	forged := statebackend.Lease{Lock: id, Fence: 1, Holder: "x", Nonce: "y"}
	_, err = theirs.TakeOver(t.Context(), forged, termOf("run-2", time.Minute))
	wantLost(t, "TakeOver of a lock without a lease", err, "")
	mustPut(t, mine, `{"serial":1}`, "")
	mustUnlock(t, mine, id)
}

func leaseReleased(t *testing.T, s Suite) {
	open := s.leased(t)
	mine, theirs := open(), open()
	id := mustLease(t, mine, "run-1")
	mustUnlock(t, mine, id)
	if err := mine.Unlock(t.Context(), id); !errors.Is(err, statebackend.ErrNotLocked) {
		t.Errorf("second Unlock: %v; want ErrNotLocked", err)
	}
	wantLost(t, "Renew", second(mine.Renew(t.Context(), termOf("run-1", time.Hour))), "")
	id = mustLock(t, theirs) // as a tool without leases would
	if h := lockSeen(t, mine); h.Lease != nil {
		t.Errorf("the lock has the lease of the one before: %+v", h.Lease)
	}
	mustUnlock(t, theirs, id)
}

func leaseForced(t *testing.T, s Suite) {
	open := s.leased(t)
	mine, theirs := open(), open()
	id := mustLease(t, mine, "run-1")
	mustUnlock(t, theirs, id)
	wantLost(t, "Renew", second(mine.Renew(t.Context(), termOf("run-1", time.Hour))), "")
	wantLost(t, "Put", second(mine.Put(t.Context(), []byte(`{"serial":1}`), "")), "")
	other := mustLease(t, theirs, "run-2")
	wantLost(t, "Renew beside the next", second(mine.Renew(t.Context(), termOf("run-1", time.Hour))), "")
	wantLost(t, "Put beside the next", second(mine.Put(t.Context(), []byte(`{"serial":1}`), "")), "")
	mustUnlock(t, theirs, other)
}

func leaseBusy(t *testing.T, s Suite) {
	open := s.leased(t)
	mine, theirs := open(), open()
	id := mustLease(t, mine, "run-1")
	var renewals sync.WaitGroup
	defer renewals.Wait()
	renewals.Go(func() {
		for range 10 {
			if _, err := mine.Renew(t.Context(), termOf("run-1", time.Hour)); err != nil {
				t.Errorf("Renew: %v", err)
			}
		}
	})
	v := statebackend.Version("")
	for _, state := range []string{`{"serial":1}`, `{"serial":2}`, `{"serial":3}`} {
		v = mustPut(t, mine, state, v)
	}
	renewals.Wait()
	if h := lockSeen(t, theirs); h.Lease == nil || !h.Lease.Until.After(time.Now().Add(time.Minute)) {
		t.Errorf("the lease is %+v", h.Lease)
	}
	if got := mustGet(t, theirs); string(got.Bytes) != `{"serial":3}` {
		t.Errorf("Get = %s", got.Bytes)
	}
	mustUnlock(t, mine, id)
}
