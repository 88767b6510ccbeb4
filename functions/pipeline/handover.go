package pipeline

import (
	"fmt"
	"time"
)

// A HandOver is the error by which a process passes its message on. The process has recorded its work. Another
// process, or the same one later, continues with the same message. The queue delivers the message once more, at
// once, and before all other messages of its group. A HandOver is not a failure.
//
// The message stays the first of its group. So an apply that continues never waits for other applies to its
// state. A HandOver costs two requests: to change the visibility of the message, and to receive it. That is
// about a millionth of a dollar.
//
// There are two alternatives. A separate queue for continuations would be polled all month, at a higher cost,
// and would need dead letters and alarms. A function that invokes itself has neither order nor dead letters,
// and AWS ends such a chain after 16 invocations. Source:
// https://docs.aws.amazon.com/lambda/latest/dg/invocation-recursion.html
type HandOver struct{ Why string }

// Error implements error.
func (e *HandOver) Error() string { return "handed over: " + e.Why }

// A BusyError reports that a message cannot be handled yet. Either another process may still be working on it:
// the queue delivers the message once more at Until, when that process has certainly ended. Or the message
// waits for something else; Why says what.
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
