package statebackendtest

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/lockstep-iac/lockstep/statebackend"
)

// RunLeaseFaults tries every write of a leased run as failed, and as failed but persisted. It does so with a
// run that takes the lock, and with a run that takes the lock over from a dead one. There are two cases.
//
// The run repeats the failed step: it must succeed as if nothing had failed.
//
// The run dies there: the next process must get the lock without a person. It must find a state that the run
// has written, not older than the last write that was reported to the run as a success. It must be the only
// holder, even when the dead run wakes up.
//
// open is the function that [RunFaults] describes.
func RunLeaseFaults(t *testing.T, open func(t *testing.T, faults *Faults) statebackend.Backend) {
	for _, takesOver := range []bool{false, true} {
		l := leaseFaults{takesOver: takesOver, open: open}
		eachFault(t, fmt.Sprintf("takes over %v/", takesOver), l.writes(t), l.goesOn, l.dies)
	}
}

type leaseFaults struct {
	takesOver bool
	open      func(*testing.T, *Faults) statebackend.Backend
}

// prepare returns a backend with a state. For a run that takes over, the backend also has the lock of a dead
// run, which died between writing the object and writing its digest.
func (l leaseFaults) prepare(t *testing.T, faults *Faults) statebackend.Backend {
	t.Helper()
	b := l.open(t, faults)
	prepare(t, b, faults)
	if l.takesOver {
		dead := openLeased(t, b)
		mustLease(t, dead, "dead")
	}
	faults.Forget()
	return b
}

func openLeased(t *testing.T, b statebackend.Backend) leasedWorkspace {
	t.Helper()
	w, ok := openWorkspace(t, b, statebackend.DefaultWorkspace).(leasedWorkspace)
	if !ok {
		t.Fatal("this backend has no leases")
	}
	return w
}

func (l leaseFaults) writes(t *testing.T) []numbered {
	t.Helper()
	faults := new(Faults)
	b := l.prepare(t, faults)
	if r := l.run(t, openLeased(t, b), 1); r.err != nil {
		t.Fatalf("without faults: %v", r.err)
	}
	return numberedOf(t, faults, 5)
}

// leasedRun is the result of a run.
type leasedRun struct {
	runResult
	id   string // the ID of its lock
	held bool   // taking the lock was reported as a success
}

// run gets the lock, writes, renews, writes and unlocks. The parameter attempts is the maximum number of
// attempts of each step.
func (l leaseFaults) run(t *testing.T, w leasedWorkspace, attempts int) (r leasedRun) {
	t.Helper()
	r.attempts = attempts
	info := statebackend.NewLockInfo("OperationTypeApply", "1")
	r.id = info.ID
	lock := func() error { return second(w.LockLeased(t.Context(), info, termOf("run", time.Minute))) }
	if l.takesOver {
		was := *lockSeen(t, w).Lease
		r.id = was.Lock
		lock = func() error { return second(w.TakeOver(t.Context(), was, termOf("run", time.Minute))) }
	}
	if r.held = r.step(lock); r.held {
		r.write(t, w, r.id, func() error { return second(w.Renew(t.Context(), termOf("run", time.Hour))) })
	}
	return r
}

func (l leaseFaults) goesOn(t *testing.T, at at) {
	faults := new(Faults)
	b := l.prepare(t, faults)
	faults.Decide = at.only
	w := openLeased(t, b)
	if r := l.run(t, w, 2); r.err != nil {
		t.Fatalf("the second attempt fails too: %v", r.err)
	}
	if held, err := w.Locks(t.Context()); err != nil || len(held) > 0 {
		t.Errorf("afterwards Locks = %v, %v", held, err)
	}
	l.next(t, b, states[len(states)-1:], func(leasedWorkspace, string) {})
}

func (l leaseFaults) dies(t *testing.T, at at) {
	faults := new(Faults)
	b := l.prepare(t, faults)
	faults.Decide = at.last
	dead := openLeased(t, b)
	r := l.run(t, dead, 1)
	faults.Decide = nil
	l.next(t, b, r.allowed(), func(w leasedWorkspace, id string) {
		if !r.held {
			return
		}
		// The dead run wakes up, and believes that the lock is still its own.
		wantLost(t, "Renew of the dead", second(dead.Renew(t.Context(), termOf("run", time.Hour))), "")
		before := mustGet(t, w)
		if _, err := dead.Put(t.Context(), []byte(`{"serial":66}`), before.Version); err == nil {
			t.Error("the dead writes a state")
		}
		if err := dead.Unlock(t.Context(), r.id); err == nil {
			t.Error("the dead releases a lock")
		}
		if h := lockSeen(t, w); h.Info.ID != id || h.Lease == nil || h.Lease.Run != "next" {
			t.Errorf("the lock is %+v now", h)
		}
	})
}

// next is the next process. It must find one of the allowed states. It calls the function while when it
// holds the lock.
func (l leaseFaults) next(t *testing.T, b statebackend.Backend, allowed []string, while func(leasedWorkspace, string)) {
	t.Helper()
	w := openLeased(t, b)
	id := inherit(t, w)
	if h := lockSeen(t, w); h.Info.ID != id || h.Lease == nil || h.Lease.Run != "next" {
		t.Fatalf("the next process does not hold the lock: %+v, %+v", h, h.Lease)
	}
	now := mustGet(t, w)
	if !slices.Contains(allowed, string(now.Bytes)) {
		t.Errorf("the next process finds %s, want one of %s", now.Bytes, allowed)
	}
	while(w, id)
	mustPut(t, w, `{"serial":3}`, now.Version)
	mustUnlock(t, w, id)
	if held, err := w.Locks(t.Context()); err != nil || len(held) > 0 {
		t.Errorf("in the end Locks = %v, %v", held, err)
	}
	if got := mustGet(t, w); string(got.Bytes) != `{"serial":3}` {
		t.Errorf("then Get = %s", got.Bytes)
	}
}

// inherit gets the lock without a person, at a time when every lease has ended.
func inherit(t *testing.T, w leasedWorkspace) (id string) {
	t.Helper()
	held, err := w.Locks(t.Context())
	switch {
	case err != nil:
		t.Fatal(err)
	case len(held) == 0:
	case held[0].Lease == nil:
		t.Fatalf("a lock without a lease is left: %v", held)
	case held[0].Lease.Complete():
		mustTakeOver(t, w, "next")
		return held[0].Info.ID
	default:
		mustUnlock(t, w, held[0].Info.ID)
	}
	return mustLease(t, w, "next")
}
