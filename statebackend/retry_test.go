package statebackend_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lockstep-iac/lockstep/statebackend"
	"github.com/lockstep-iac/lockstep/statebackend/statebackendtest"
)

// locked returns a workspace that somebody else has locked, and how to unlock it.
func locked(t *testing.T) (w statebackend.Workspace, faults *statebackendtest.Faults, unlock func()) {
	t.Helper()
	faults = new(statebackendtest.Faults)
	b := &statebackendtest.Fake{Faults: faults}
	w, err := b.Open("default")
	if err != nil {
		t.Fatal(err)
	}
	other, err := b.Open("default")
	if err != nil {
		t.Fatal(err)
	}
	id, err := other.Lock(t.Context(), statebackend.NewLockInfo("x", "1"))
	if err != nil {
		t.Fatal(err)
	}
	return w, faults, func() {
		if err := other.Unlock(context.Background(), id); err != nil {
			t.Error(err)
		}
	}
}

// attempts counts calls of Lock.
type attempts struct {
	statebackend.Locker
	at    []time.Duration
	start time.Time
}

func (a *attempts) Lock(ctx context.Context, info statebackend.LockInfo) (string, error) {
	a.at = append(a.at, time.Since(a.start))
	return a.Locker.Lock(ctx, info)
}

func TestLockWithRetryPauses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, _, _ := locked(t)
		a := &attempts{Locker: w, start: time.Now()}
		_, err := statebackend.LockWithRetry(t.Context(), a, statebackend.NewLockInfo("y", "1"), 60*time.Second)
		var refused *statebackend.LockedError
		if !errors.As(err, &refused) || refused.Info.Operation != "x" {
			t.Errorf("%v; want the holder", err)
		}
		want := []time.Duration{0, 1, 3, 7, 15, 31, 47, 60} // seconds
		for i := range want {
			want[i] *= time.Second
		}
		if len(a.at) != len(want) {
			t.Fatalf("attempts at %v, want %v", a.at, want)
		}
		for i := range want {
			if a.at[i] != want[i] {
				t.Fatalf("attempts at %v, want %v", a.at, want)
			}
		}
	})
}

func TestLockWithRetryGetsTheLock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, _, unlock := locked(t)
		time.AfterFunc(5*time.Second, unlock)
		start := time.Now()
		info := statebackend.NewLockInfo("y", "1")
		info.ID = ""
		id, err := statebackend.LockWithRetry(t.Context(), w, info, time.Minute)
		if err != nil || id == "" {
			t.Fatalf("%q, %v", id, err)
		}
		if took := time.Since(start); took != 7*time.Second {
			t.Errorf("after %v", took)
		}
	})
}

func TestLockWithRetryOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, _, _ := locked(t)
		start := time.Now()
		if _, err := statebackend.LockWithRetry(t.Context(), w, statebackend.NewLockInfo("y", "1"), 0); err == nil {
			t.Error("no error")
		}
		if took := time.Since(start); took != 0 {
			t.Errorf("waited %v", took)
		}
	})
}

func TestLockWithRetryEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, _, _ := locked(t)
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
		defer cancel()
		start := time.Now()
		_, err := statebackend.LockWithRetry(ctx, w, statebackend.NewLockInfo("y", "1"), time.Hour)
		var refused *statebackend.LockedError
		if !errors.As(err, &refused) {
			t.Errorf("%v; want the holder", err)
		}
		if took := time.Since(start); took != 2*time.Second {
			t.Errorf("after %v", took)
		}
	})
}

func TestLockWithRetryGivesUpOnErrors(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, faults, unlock := locked(t)
		unlock()
		faults.Decide = func(int, string) statebackendtest.Fault { return statebackendtest.Failed }
		start := time.Now()
		_, err := statebackend.LockWithRetry(t.Context(), w, statebackend.NewLockInfo("y", "1"), time.Hour)
		if !errors.Is(err, statebackendtest.ErrFault) || time.Since(start) != 0 {
			t.Errorf("%v after %v", err, time.Since(start))
		}
	})
}
