package statebackend

import "context"

// UnfitError reports a server that cannot keep states, because it lacks something that the protocol needs.
// Nothing was written that another run may rely on. Its text is for people, and says what to do instead.
type UnfitError struct {
	Place  string // the objects; with the server if it is not AWS
	Fault  string // what the server does, as the predicate of a sentence: "ignores If-None-Match"
	Reason string // how the fault was found, and what it would break: sentences
	Remedy string // what to do: sentences in the imperative
}

func (e *UnfitError) Error() string {
	return e.Place + " " + e.Fault + ": " + e.Reason + " " + e.Remedy
}

// Conditional is a workspace on a server that may ignore the conditions of writes.
type Conditional interface {
	// CheckConditions finds out whether the server obeys the conditions of writes. Lock does the same before
	// anything else, so only a writer without a lock calls CheckConditions. If the server ignores conditions,
	// the error is a *UnfitError. From then on the workspace reads before each write, which gives no protection
	// from simultaneous writers.
	CheckConditions(ctx context.Context) error
}
