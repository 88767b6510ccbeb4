package statebackendtest

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/lockstep-iac/lockstep/statebackend"
)

// RunFaults tries every write of a run as failed, and as failed but persisted:
// once with a run that repeats the failed step, as the contract demands, and once
// with a run that dies there, after which a person releases its lock by its ID.
// Afterwards the state must be one that the run wrote, and no older than the last
// write that was reported to it as a success; and the next run must succeed.
//
// open returns a backend whose store is empty, and whose every write asks faults.
// It does not repeat requests by itself.
func RunFaults(t *testing.T, open func(t *testing.T, faults *Faults) statebackend.Backend) {
	for _, write := range writesOf(t, open) {
		for _, fault := range []Fault{Failed, Persisted} {
			t.Run(fmt.Sprintf("%s/%s/goes on", write, fault), func(t *testing.T) {
				t.Parallel()
				faults := new(Faults)
				goesOn(t, open(t, faults), faults, write.n, fault)
			})
			t.Run(fmt.Sprintf("%s/%s/dies", write, fault), func(t *testing.T) {
				t.Parallel()
				faults := new(Faults)
				dies(t, open(t, faults), faults, write.n, fault)
			})
		}
	}
}

// numbered is a write of the run without faults.
type numbered struct {
	n    int
	name string
}

func (w numbered) String() string { return fmt.Sprintf("%d %s", w.n, w.name) }

// writesOf lists the writes of a run.
func writesOf(t *testing.T, open func(*testing.T, *Faults) statebackend.Backend) []numbered {
	t.Helper()
	faults := new(Faults)
	b := open(t, faults)
	prepare(t, b, faults)
	if r := run(t, b, 1); r.err != nil {
		t.Fatalf("without faults: %v", r.err)
	}
	var all []numbered
	for n, name := range faults.Writes() {
		all = append(all, numbered{n, name})
	}
	if len(all) < 4 {
		t.Fatalf("a run makes these writes only: %v", all)
	}
	return all
}

// states are written one after the other; the first is there before the run.
var states = []string{`{"serial":0}`, `{"serial":1}`, `{"serial":2}`}

func prepare(t *testing.T, b statebackend.Backend, faults *Faults) {
	t.Helper()
	faults.Decide = nil
	mustPut(t, openWorkspace(t, b, statebackend.DefaultWorkspace), states[0], "")
	faults.Forget()
}

// runResult is the end of a run.
type runResult struct {
	told int   // the index in states of the last that was written for sure
	err  error // that of the step at which it ended
}

// run locks, writes twice and unlocks. It tries each step up to that many times.
func run(t *testing.T, b statebackend.Backend, attempts int) (r runResult) {
	t.Helper()
	w := openWorkspace(t, b, statebackend.DefaultWorkspace)
	info := statebackend.NewLockInfo("OperationTypeApply", "1")
	step := func(do func() error) bool {
		for range attempts {
			if r.err = do(); r.err == nil {
				return true
			}
		}
		return false
	}
	var now statebackend.Snapshot
	lock := func() error { _, err := w.Lock(t.Context(), info); return err }
	get := func() (err error) { now, err = w.Get(t.Context()); return err }
	if !step(lock) || !step(get) {
		return r
	}
	for i, state := range states[1:] {
		put := func() error {
			v, err := w.Put(t.Context(), []byte(state), now.Version)
			if err == nil {
				now.Version = v
			}
			return err
		}
		if !step(put) {
			return r
		}
		r.told = i + 1
	}
	again := false
	step(func() error {
		err := w.Unlock(t.Context(), info.ID)
		if again && errors.Is(err, statebackend.ErrNotLocked) {
			return nil // the attempt before has released it
		}
		again = true
		return err
	})
	return r
}

func goesOn(t *testing.T, b statebackend.Backend, faults *Faults, n int, fault Fault) {
	prepare(t, b, faults)
	faults.Decide = func(i int, _ string) Fault {
		if i == n {
			return fault
		}
		return None
	}
	if r := run(t, b, 2); r.err != nil {
		t.Fatalf("the second attempt fails too: %v", r.err)
	}
	w := openWorkspace(t, b, statebackend.DefaultWorkspace)
	if held, err := w.Locks(t.Context()); err != nil || len(held) > 0 {
		t.Errorf("afterwards Locks = %v, %v", held, err)
	}
	nextRun(t, w, states[len(states)-1:])
}

func dies(t *testing.T, b statebackend.Backend, faults *Faults, n int, fault Fault) {
	prepare(t, b, faults)
	faults.Decide = func(i int, _ string) Fault {
		switch {
		case i == n:
			return fault
		case i > n:
			return Failed // the dead write nothing
		}
		return None
	}
	r := run(t, b, 1)
	faults.Decide = nil

	w := openWorkspace(t, b, statebackend.DefaultWorkspace)
	held, err := w.Locks(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if len(held) > 0 {
		mustUnlock(t, w, held[0].Info.ID)
	}
	// If the last write was not reported as a success, it may be stored or not.
	nextRun(t, w, states[r.told:min(r.told+2, len(states))])
}

// nextRun is one without faults, which finds one of these states.
func nextRun(t *testing.T, w statebackend.Workspace, allowed []string) {
	t.Helper()
	id := mustLock(t, w)
	now := mustGet(t, w)
	if !slices.Contains(allowed, string(now.Bytes)) {
		t.Errorf("the next run finds %s, want one of %s", now.Bytes, allowed)
	}
	mustPut(t, w, `{"serial":3}`, now.Version)
	mustUnlock(t, w, id)
	if got := mustGet(t, w); string(got.Bytes) != `{"serial":3}` {
		t.Errorf("then Get = %s", got.Bytes)
	}
}

// RunEchoes tries every write that a run makes as failed but persisted, with a
// backend whose client repeats requests by itself: the run must not notice. Its
// conditional writes are refused then, because of their own success.
func RunEchoes(t *testing.T, open func(t *testing.T, faults *Faults) statebackend.Backend) {
	for _, write := range writesOf(t, open) {
		t.Run(write.String(), func(t *testing.T) {
			t.Parallel()
			faults := new(Faults)
			b := open(t, faults)
			prepare(t, b, faults)
			faults.Decide = func(i int, _ string) Fault {
				if i == write.n {
					return Persisted
				}
				return None
			}
			if r := run(t, b, 1); r.err != nil {
				t.Fatal(r.err)
			}
			if n := len(faults.Writes()); n <= write.n+1 {
				t.Fatalf("only %d writes: the request was not repeated", n)
			}
			nextRun(t, openWorkspace(t, b, statebackend.DefaultWorkspace), states[len(states)-1:])
		})
	}
}
