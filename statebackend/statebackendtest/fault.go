package statebackendtest

import (
	"errors"
	"sync"
)

// Fault is the result that is injected into one write.
type Fault int

const (
	None      Fault = iota // the write succeeds
	Failed                 // the write is not done, and an error is reported
	Persisted              // the write is done, and an error is reported
	Conflict               // the write is not done, and answered with S3's 409 (elsewhere as Failed)
)

func (f Fault) String() string {
	return [...]string{"none", "failed", "failed but persisted", "conflict"}[f]
}

// ErrFault is the error that the fakes report for a fault.
var ErrFault = errors.New("injected fault")

// Faults decides the fault of each write, and remembers all writes. The zero value injects no fault. Faults
// is safe for concurrent use, but Decide must not be changed while writes are under way.
type Faults struct {
	// Decide, if set, is called once for each write and returns its fault. n is the number of the write, from
	// 0.
	Decide func(n int, write string) Fault

	mu     sync.Mutex
	writes []string
}

// Next records a write and returns its fault. A nil *Faults has no faults.
func (f *Faults) Next(write string) Fault {
	if f == nil {
		return None
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	n := len(f.writes)
	f.writes = append(f.writes, write)
	if f.Decide == nil {
		return None
	}
	return f.Decide(n, write)
}

// Writes returns the writes so far, in order.
func (f *Faults) Writes() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return append([]string(nil), f.writes...)
}

// Forget forgets all writes, so that the numbers start from 0 again.
func (f *Faults) Forget() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.writes = nil
}
