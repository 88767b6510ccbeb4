package statebackendtest

import (
	"bytes"
	"context"
	"slices"
	"sync"

	"github.com/lockstep-iac/lockstep/statebackend"
)

// Log is a journal log in memory. It fulfils the contract, and passes [RunLog]. The zero value is empty and
// ready to use. It is safe for concurrent use.
type Log struct {
	Faults *Faults // of "append" and "drop"
	// KeepsNothing makes Exclusive return true: see [statebackend.Log].
	KeepsNothing bool

	mu       sync.Mutex
	segments []statebackend.Segment
}

var _ statebackend.Log = (*Log)(nil)

// Segments returns the stored segments, beginning with the last one for which the function first returns
// true.
func (l *Log) Segments(ctx context.Context, first func(statebackend.Segment) bool) ([]statebackend.Segment, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for i, s := range slices.Backward(l.segments) {
		if first != nil && first(s) {
			return slices.Clone(l.segments[i:]), ctx.Err()
		}
	}
	return slices.Clone(l.segments), ctx.Err()
}

// Append stores a segment if its number is the next one, or if nothing is stored.
func (l *Log) Append(ctx context.Context, number uint64, data []byte, _ bool) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := ctx.Err(); err != nil {
		return err
	}
	return l.write("append", func() error {
		for _, s := range l.segments {
			if s.Number == number && bytes.Equal(s.Data, data) {
				return nil
			}
			if s.Number >= number {
				return &statebackend.TakenError{Place: l.Place(), Number: number}
			}
		}
		l.segments = append(l.segments, statebackend.Segment{Number: number, Data: bytes.Clone(data)})
		return nil
	})
}

// write calls do, which makes one write. The fault that a test injects into this write may prevent the call.
// The caller holds l.mu.
func (l *Log) write(name string, do func() error) error {
	switch l.Faults.Next(name) {
	case Failed, Conflict:
		return ErrFault
	case Persisted:
		do()
		return ErrFault
	}
	return do()
}

// Drop removes the segments with numbers below the given one.
func (l *Log) Drop(_ context.Context, below uint64) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.write("drop", func() error {
		l.segments = slices.DeleteFunc(l.segments, func(s statebackend.Segment) bool { return s.Number < below })
		return nil
	})
}

// Edit replaces the stored segments, as a person would who damages a journal.
func (l *Log) Edit(change func([]statebackend.Segment) []statebackend.Segment) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.segments = change(l.segments)
}

// Exclusive returns the field KeepsNothing.
func (l *Log) Exclusive() bool { return l.KeepsNothing }

// Place returns the name of the log for messages.
func (l *Log) Place() string { return "memory" }

// Close does nothing.
func (l *Log) Close() error { return nil }
