package statebackend

import (
	"context"
	"fmt"
)

// Log keeps the journal of one workspace's state: segments under consecutive numbers from 1.
// It is storage only; the protocol is package journal's.
//
// It is linearizable: Segments that starts after an Append has returned nil sees its segment, from
// any process. Of any number of Appends with the same number and different bytes, at most one is
// stored. All methods may be called concurrently.
type Log interface {
	// Segments returns what is stored, in the order of the numbers. There are no gaps between
	// them; the first has a number above 1 after a Drop. A segment whose Append was cut off by
	// a crash is there whole or not at all. If segments were damaged or removed from the middle
	// the error is a *DamagedError, and nothing is stored or dropped until a person has mended it.
	//
	// A reader who needs nothing before a certain segment recognizes it in first, which may be
	// nil: a store in which each segment costs a request asks first about one after the other,
	// from the last one back, and reads none before the one for which first returns true.
	// Others return all.
	Segments(ctx context.Context, first func(Segment) bool) ([]Segment, error)

	// Append stores a segment. If another one has the number, or a later one is stored, the
	// error is a *TakenError and nothing was stored, unless exactly these bytes have this
	// number: that is success, since they are most likely from an attempt whose answer was lost.
	//
	// It outlives the process when Append returns, and the machine too if it is to be durable;
	// a durable one makes all before it durable. Stores that know no difference make all durable.
	//
	// After any other error it is not known whether the segment was stored; calling Append
	// again with the same arguments is right, and settles it. data is not empty, and is not
	// kept after the call.
	Append(ctx context.Context, number uint64, data []byte, durable bool) error

	// Drop removes the segments with numbers below the given one, which have all been
	// appended. What is gone already is no error. A crash in the middle leaves the later ones. A
	// store may remove them later: its readers need first then, to pass over them.
	Drop(ctx context.Context, below uint64) error

	// Exclusive reports whether a holder of the state's lock cannot outlive it, as with a lock
	// of the operating system. Then nobody needs the numbers of a journal that is no longer
	// needed, and all of it may be dropped; else its last segment stays, as the fence.
	Exclusive() bool

	// Place is where the journal is, in the words of messages.
	Place() string

	// Close releases what the value holds open. The journal stays.
	Close() error
}

// A Segment is one piece of a journal.
type Segment struct {
	Number uint64
	Data   []byte
}

// Journaled is a workspace that can keep a journal beside its state.
type Journaled interface {
	// Journal returns the log of the workspace's state. Nothing is read or created yet.
	Journal() Log
}

// TakenError is the refusal of an Append under a number that another segment has.
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
	Number uint64 // of the first segment in doubt
	Reason string
}

func (e *DamagedError) Error() string {
	return fmt.Sprintf("the journal %s is damaged at record group %d: %s", e.Place, e.Number, e.Reason)
}
