package pipeline

import (
	"fmt"
	"time"
)

// A HandOver is the end of a process' part of a message: its work is recorded, and another process,
// or this one later, goes on with the same message at once, before all others of its group. It
// is no failure.
//
// The message itself is what is handed over: it stays the first of its group, so that an apply which
// goes on never waits behind others that wait for its state. It costs one request to change the
// visibility and one to receive, about a millionth of a dollar. A queue for continuations
// would be polled all month for that, and needs dead letters and alarms of its own; a function
// that invokes itself has neither order nor dead letters, and AWS ends such a chain after
// 16 invocations.
// Source: https://docs.aws.amazon.com/lambda/latest/dg/invocation-recursion.html
type HandOver struct{ Why string }

// Error implements error.
func (e *HandOver) Error() string { return "handed over: " + e.Why }

// A BusyError is a message whose work may still be done by another process: it comes again
// when that process has certainly ended. Or it waits for something else, Why.
type BusyError struct {
	Until time.Time
	Why   string
}

// Error implements error.
func (e *BusyError) Error() string {
	if e.Why != "" {
		return e.Why
	}
	return fmt.Sprintf("another process works on it, until %s at most", e.Until.UTC().Format(time.RFC3339))
}
