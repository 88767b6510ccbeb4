package statebackend

import (
	"context"
	"fmt"
)

// Log keeps the journal of one workspace's state: segments under consecutive numbers from 1. It only stores
// them; the protocol is in package journal.
//
// A Log is linearizable: a Segments call that starts after an Append has returned nil sees the appended
// segment, from any process. If several Appends have the same number and different bytes, at most one is
// stored. All methods may be called concurrently.
type Log interface {
	// Segments returns the stored segments in the order of their numbers, without gaps. After a Drop the
	// first number is above 1. If a crash interrupted an Append, its segment is complete or absent. If
	// segments are damaged, or missing from the middle, the error is a *DamagedError. Append and Drop then do
	// nothing until a person has repaired the journal.
	//
	// first, which may be nil, reports whether the reader needs nothing before the given segment. Where each
	// segment costs a request, the store reads backwards from the last segment, and stops at the one for
	// which first returns true. Other stores return all segments.
	Segments(ctx context.Context, first func(Segment) bool) ([]Segment, error)

	// Append stores a segment. If the number is taken, or a later segment is stored, the error is a
	// *TakenError and nothing is stored. Exception: if exactly these bytes are stored under this number,
	// Append succeeds, since they are most likely from an attempt whose answer was lost.
	//
	// When Append returns, the segment outlives the process. With durable, it also outlives the machine, and
	// so do all segments before it. Some stores make every segment durable.
	//
	// After any other error it is not known whether the segment was stored. Call Append again with the same
	// arguments to find out. data is not empty, and Append does not keep it after the call.
	Append(ctx context.Context, number uint64, data []byte, durable bool) error

	// Drop removes the segments with numbers below the given one. All of them have been appended. Segments
	// that are gone already are no error. After a crash in the middle, the later segments remain. A store may
	// remove the segments later than Drop returns: until then its readers skip them by the argument first of
	// Segments.
	Drop(ctx context.Context, below uint64) error

	// Exclusive reports whether no process can outlive its lock on the state, as with a lock of the operating
	// system. Then the whole journal may be dropped once it is no longer needed. Otherwise its last segment
	// stays, as the fence against a process that wakes up late.
	Exclusive() bool

	// Place is the location of the journal for messages.
	Place() string

	// Close releases the files and connections that the Log has open. The journal stays.
	Close() error
}

// A Segment is one stored piece of a journal.
type Segment struct {
	Number uint64
	Data   []byte
}

// Journaled is a workspace that can keep a journal beside its state.
type Journaled interface {
	// Journal returns the log of the workspace's state. Nothing is read or created yet.
	Journal() Log
}

// TakenError is the error of an Append if another segment has the number already.
type TakenError struct {
	Place  string
	Number uint64
}

func (e *TakenError) Error() string {
	return fmt.Sprintf("%s: another process has written record group %d of the journal", e.Place, e.Number)
}

// DamagedError reports a journal that cannot be trusted.
type DamagedError struct {
	Place  string
	Number uint64 // of the first damaged or missing segment
	Reason string
}

func (e *DamagedError) Error() string {
	return fmt.Sprintf("the journal %s is damaged at record group %d: %s", e.Place, e.Number, e.Reason)
}
