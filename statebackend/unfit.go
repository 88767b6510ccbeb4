package statebackend

import "context"

// UnfitError reports a server that cannot keep states: it does not do what the protocol needs. Nothing was
// written that another run may rely on. Its text is for people, and says what works.
type UnfitError struct {
	Place  string // of the objects, with the server where that is not AWS
	Fault  string // of the server, as the predicate of a sentence: "ignores If-None-Match"
	Reason string // how the fault showed, and what it would break: sentences
	Remedy string // sentences in the imperative
}

func (e *UnfitError) Error() string {
	return e.Place + " " + e.Fault + ": " + e.Reason + " " + e.Remedy
}

// Conditional is a workspace on a server that may not keep the conditions of writes.
type Conditional interface {
	// CheckConditions finds out whether the server keeps them, as Lock does before anything else. It is for
	// writers without a lock. The error is a *UnfitError if the server does not; from then on the workspace
	// looks before it writes, which protects from nobody who writes in the same moment.
	CheckConditions(ctx context.Context) error
}
