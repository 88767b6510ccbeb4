package statebackendtest

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/lockstep-iac/lockstep/statebackend"
)

var lockerTests = []contractTest{
	{"a lock keeps others out and names its holder", func(t *testing.T, s Suite) {
		mine, theirs := s.open(t)
		info := statebackend.NewLockInfo("OperationTypeApply", "1.2.3")
		info.Info = "run 7 <lockstep&co>"
		id, err := theirs.Lock(t.Context(), info)
		if err != nil {
			t.Fatal(err)
		}
		if id != info.ID {
			t.Errorf("Lock returned ID %q, was given %q", id, info.ID)
		}
		_, err = mine.Lock(t.Context(), statebackend.NewLockInfo("OperationTypePlan", "1.2.3"))
		var locked *statebackend.LockedError
		if !errors.As(err, &locked) {
			t.Fatalf("Lock: %v; want a *LockedError", err)
		}
		got := locked.Info
		if got.Path == "" {
			t.Error("the holder's Path is empty")
		}
		got.Path = ""
		if !got.Created.Equal(info.Created) {
			t.Errorf("Created %v, want %v", got.Created, info.Created)
		}
		got.Created = info.Created
		if got != info {
			t.Errorf("holder %+v\nwant   %+v", got, info)
		}
		if !strings.Contains(err.Error(), info.ID) || !strings.Contains(err.Error(), info.Who) {
			t.Errorf("the message does not name the holder: %v", err)
		}
		mustUnlock(t, theirs, id)
		mustUnlock(t, mine, mustLock(t, mine))
	}},
	{"an ID is made where none is given", func(t *testing.T, s Suite) {
		mine, _ := s.open(t)
		info := statebackend.NewLockInfo("OperationTypeApply", "1.2.3")
		info.ID = ""
		id, err := mine.Lock(t.Context(), info)
		if err != nil || id == "" {
			t.Fatalf("Lock = %q, %v", id, err)
		}
		mustUnlock(t, mine, id)
	}},
	{"of many that lock one wins", func(t *testing.T, s Suite) {
		b := s.Open(t)
		errs := make([]error, racers)
		var wg sync.WaitGroup
		for i := range racers {
			w := openWorkspace(t, b, statebackend.DefaultWorkspace)
			wg.Go(func() {
				_, errs[i] = w.Lock(context.WithoutCancel(t.Context()), statebackend.NewLockInfo("race", "1"))
			})
		}
		wg.Wait()
		winners := 0
		for _, err := range errs {
			var locked *statebackend.LockedError
			if err == nil {
				winners++
			} else if !errors.As(err, &locked) {
				t.Errorf("%v; want a *LockedError", err)
			}
		}
		if winners != 1 {
			t.Errorf("%d have the lock", winners)
		}
	}},
	{"what is there is told", func(t *testing.T, s Suite) {
		mine, theirs := s.open(t)
		for _, w := range []statebackend.Locker{mine, theirs} {
			if held, err := w.Locks(t.Context()); err != nil || len(held) != 0 {
				t.Errorf("Locks = %v, %v; want none", held, err)
			}
		}
		id := mustLock(t, mine)
		for _, w := range []statebackend.Locker{mine, theirs} {
			held, err := w.Locks(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			var kinds []statebackend.LockKind
			for _, h := range held {
				kinds = append(kinds, h.Kind)
				if h.Info.ID != id {
					t.Errorf("%s has ID %q, want %q", h.Kind, h.Info.ID, id)
				}
			}
			if !slices.Equal(kinds, s.Kinds) {
				t.Errorf("Locks tells of %q, want %q", kinds, s.Kinds)
			}
		}
		mustUnlock(t, mine, id)
	}},
	{"only the right ID unlocks", func(t *testing.T, s Suite) {
		mine, theirs := s.open(t)
		id := mustLock(t, theirs)
		for _, w := range []statebackend.Locker{mine, theirs} {
			err := w.Unlock(t.Context(), statebackend.NewLockID())
			var mismatch *statebackend.LockMismatchError
			if !errors.As(err, &mismatch) || len(mismatch.Held) == 0 || mismatch.Held[0].Info.ID != id {
				t.Errorf("Unlock with another ID: %v; want a mismatch that names the holder", err)
			} else if !strings.Contains(err.Error(), id) || !strings.Contains(err.Error(), mismatch.Held[0].Info.Who) {
				t.Errorf("the message does not name the holder: %v", err)
			}
		}
		if _, err := mine.Lock(t.Context(), statebackend.NewLockInfo("x", "1")); err == nil {
			t.Error("the lock was released")
		}
		mustUnlock(t, theirs, id)
	}},
	{"without a lock there is nothing to unlock", func(t *testing.T, s Suite) {
		mine, _ := s.open(t)
		if err := mine.Unlock(t.Context(), statebackend.NewLockID()); !errors.Is(err, statebackend.ErrNotLocked) {
			t.Errorf("Unlock: %v; want ErrNotLocked", err)
		}
		id := mustLock(t, mine)
		mustUnlock(t, mine, id)
		if err := mine.Unlock(t.Context(), id); !errors.Is(err, statebackend.ErrNotLocked) {
			t.Errorf("second Unlock: %v; want ErrNotLocked", err)
		}
	}},
	{"anybody may release a lock by its ID", func(t *testing.T, s Suite) {
		mine, theirs := s.open(t)
		id := mustLock(t, theirs)
		if s.ProcessLocks {
			if err := mine.Unlock(t.Context(), id); err == nil {
				t.Error("the lock of a live process was released by another")
			}
			mustUnlock(t, theirs, id)
			return
		}
		mustUnlock(t, mine, id)
		mustUnlock(t, mine, mustLock(t, mine))
	}},
	{"a writer that lost its lock does not write", func(t *testing.T, s Suite) {
		if s.ProcessLocks {
			t.Skip("a lock that lives with its process is not lost")
		}
		mine, theirs := s.open(t)
		id := mustLock(t, mine)
		v := mustPut(t, mine, `{"serial":1}`, "")
		mustUnlock(t, theirs, id)
		put := func() {
			t.Helper()
			_, err := mine.Put(t.Context(), []byte(`{"serial":2}`), v)
			var lost *statebackend.LockLostError
			if !errors.As(err, &lost) || lost.ID != id {
				t.Errorf("Put: %v; want a *LockLostError", err)
			}
		}
		put()
		// Nor may the old holder write when somebody else has the lock.
		other := mustLock(t, theirs)
		put()
		mustPut(t, theirs, `{"serial":3}`, v)
		mustUnlock(t, theirs, other)
	}},
	{"the state can be written under the lock, and is seen outside", func(t *testing.T, s Suite) {
		mine, theirs := s.open(t)
		id := mustLock(t, mine)
		v := mustPut(t, mine, `{"serial":1}`, mustGet(t, mine).Version)
		v = mustPut(t, mine, `{"serial":2}`, v)
		if got := mustGet(t, theirs); string(got.Bytes) != `{"serial":2}` || got.Version != v {
			t.Errorf("Get = %s, %q; want serial 2, %q", got.Bytes, got.Version, v)
		}
		mustUnlock(t, mine, id)
		if got := mustGet(t, theirs); string(got.Bytes) != `{"serial":2}` {
			t.Errorf("after Unlock Get = %s", got.Bytes)
		}
	}},
	{"a lock without a write leaves no state", func(t *testing.T, s Suite) {
		mine, theirs := s.open(t)
		id := mustLock(t, mine)
		if got := mustGet(t, theirs); got.Bytes != nil {
			t.Errorf("Get = %q under a lock alone", got.Bytes)
		}
		mustUnlock(t, mine, id)
		if got := mustGet(t, theirs); got.Bytes != nil || got.Version != "" {
			t.Errorf("Get = %q, version %q after a lock alone", got.Bytes, got.Version)
		}
	}},
	{"locking under a context that ended leaves no lock", func(t *testing.T, s Suite) {
		mine, theirs := s.open(t)
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := mine.Lock(ctx, statebackend.NewLockInfo("x", "1")); !errors.Is(err, context.Canceled) {
			t.Errorf("Lock: %v", err)
		}
		mustUnlock(t, theirs, mustLock(t, theirs))
	}},
}
