package statebackendtest

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/lockstep-iac/lockstep/statebackend"
)

// RunFaults tries every write of a run as failed, and as failed but persisted. Each case runs twice: with a
// run that repeats the failed step, as the contract demands, and with a run that dies there. After a death, a
// person releases the lock by its ID.
//
// Afterwards the state must be one that the run wrote. It must not be older than the last write that was
// reported to the run as a success. The next run must succeed.
//
// open returns a backend with an empty store. Every write of the backend gets its fault from faults. The
// backend must not repeat requests by itself.
func RunFaults(t *testing.T, open func(t *testing.T, faults *Faults) statebackend.Backend) {
	eachFault(t, "", writesOf(t, open), func(t *testing.T, at at) { goesOn(t, open, at) }, func(t *testing.T, at at) { dies(t, open, at) })
}

// at is a fault in the nth write of a run.
type at struct {
	n     int
	fault Fault
}

// only is a [Faults.Decide] that injects this fault and no other.
func (a at) only(n int, _ string) Fault {
	if n == a.n {
		return a.fault
	}
	return None
}

// last is a [Faults.Decide] for a run that dies at this fault: all later writes fail.
func (a at) last(n int, _ string) Fault {
	if n > a.n {
		return Failed
	}
	return a.only(n, "")
}

// eachFault tries each fault in each write: goesOn tests a run that continues, dies a run that ends there.
func eachFault(t *testing.T, prefix string, writes []numbered, goesOn, dies func(*testing.T, at)) {
	for _, write := range writes {
		for _, fault := range []Fault{Failed, Persisted} {
			name := fmt.Sprintf("%s%s/%s", prefix, write, fault)
			t.Run(name+"/goes on", func(t *testing.T) {
				t.Parallel()
				goesOn(t, at{write.n, fault})
			})
			t.Run(name+"/dies", func(t *testing.T) {
				t.Parallel()
				dies(t, at{write.n, fault})
			})
		}
	}
}

// numbered is a write of a run without faults, and its number.
type numbered struct {
	n    int
	name string
}

func (w numbered) String() string { return fmt.Sprintf("%d %s", w.n, w.name) }

// writesOf lists the writes of a run without faults.
func writesOf(t *testing.T, open func(*testing.T, *Faults) statebackend.Backend) []numbered {
	t.Helper()
	faults := new(Faults)
	b := open(t, faults)
	prepare(t, b, faults)
	if r := run(t, b, 1); r.err != nil {
		t.Fatalf("without faults: %v", r.err)
	}
	return numberedOf(t, faults, 4)
}

// numberedOf lists the writes that faults has recorded. The test fails if there are fewer than least.
func numberedOf(t *testing.T, faults *Faults, least int) (all []numbered) {
	t.Helper()
	for n, name := range faults.Writes() {
		all = append(all, numbered{n, name})
	}
	if len(all) < least {
		t.Fatalf("a run makes these writes only: %v", all)
	}
	return all
}

// states are the states that a run writes in this order. The first one is stored before the run.
var states = []string{`{"serial":0}`, `{"serial":1}`, `{"serial":2}`}

func prepare(t *testing.T, b statebackend.Backend, faults *Faults) {
	t.Helper()
	faults.Decide = nil
	mustPut(t, openWorkspace(t, b, statebackend.DefaultWorkspace), states[0], "")
	faults.Forget()
}

// runResult is the result of a run.
type runResult struct {
	told int   // the index in states of the last write that was reported as a success
	err  error // the error of the step at which the run ended
	now  statebackend.Version

	attempts int // for each step
}

// step takes one step of a run. It tries the step several times if needed, and reports whether an attempt
// succeeded.
func (r *runResult) step(do func() error) bool {
	for range r.attempts {
		if r.err = do(); r.err == nil {
			return true
		}
	}
	return false
}

// write reads the state, writes the next states, and unlocks. It calls after()
// each time it has written a state.
func (r *runResult) write(t *testing.T, w statebackend.Workspace, id string, after func() error) {
	get := func() error {
		s, err := w.Get(t.Context())
		r.now = s.Version
		return err
	}
	if !r.step(get) {
		return
	}
	for i, state := range states[1:] {
		put := func() error {
			v, err := w.Put(t.Context(), []byte(state), r.now)
			if err == nil {
				r.now = v
			}
			return err
		}
		if !r.step(put) {
			return
		}
		r.told = i + 1
		if !r.step(after) {
			return
		}
	}
	again := false
	r.step(func() error {
		err := w.Unlock(t.Context(), id)
		if again && errors.Is(err, statebackend.ErrNotLocked) {
			return nil // an earlier attempt has released it
		}
		again = true
		return err
	})
}

// run locks, writes twice and unlocks. The parameter attempts is the maximum number of attempts of each
// step.
func run(t *testing.T, b statebackend.Backend, attempts int) runResult {
	t.Helper()
	r := runResult{attempts: attempts}
	w := openWorkspace(t, b, statebackend.DefaultWorkspace)
	info := statebackend.NewLockInfo("OperationTypeApply", "1")
	if r.step(func() error { _, err := w.Lock(t.Context(), info); return err }) {
		r.write(t, w, info.ID, func() error { return nil })
	}
	return r
}

func goesOn(t *testing.T, open func(*testing.T, *Faults) statebackend.Backend, at at) {
	faults := new(Faults)
	b := open(t, faults)
	prepare(t, b, faults)
	faults.Decide = at.only
	if r := run(t, b, 2); r.err != nil {
		t.Fatalf("the second attempt fails too: %v", r.err)
	}
	w := openWorkspace(t, b, statebackend.DefaultWorkspace)
	if held, err := w.Locks(t.Context()); err != nil || len(held) > 0 {
		t.Errorf("afterwards Locks = %v, %v", held, err)
	}
	nextRun(t, w, states[len(states)-1:])
}

func dies(t *testing.T, open func(*testing.T, *Faults) statebackend.Backend, at at) {
	faults := new(Faults)
	b := open(t, faults)
	prepare(t, b, faults)
	faults.Decide = at.last
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
	nextRun(t, w, r.allowed())
}

// allowed returns the states that the next run may find. If the last write was not reported as a success, it
// may be stored or not.
func (r *runResult) allowed() []string { return states[r.told:min(r.told+2, len(states))] }

// nextRun is a run without faults. It must find one of the allowed states.
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

// RunEchoes tries every write of a run as failed but persisted, with a backend whose client repeats requests
// by itself. The repeated conditional writes are then refused because of their own success. The run must
// succeed nevertheless.
func RunEchoes(t *testing.T, open func(t *testing.T, faults *Faults) statebackend.Backend) {
	for _, write := range writesOf(t, open) {
		t.Run(write.String(), func(t *testing.T) {
			t.Parallel()
			faults := new(Faults)
			b := open(t, faults)
			prepare(t, b, faults)
			faults.Decide = at{write.n, Persisted}.only
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
