package jobs

import (
	"context"
	"errors"
	"time"
)

// ErrTime is the reason to stop an apply at its limit of time.
var ErrTime = errors.New("the time that one run may take is over")

const (
	// callsAfter is the time that calls under way have after an apply was stopped, before providers
	// are asked to end them, where the job has no time of its own.
	callsAfter = time.Minute
	// stopGrace is the time for their answers, where it has none.
	stopGrace = time.Minute
)

// Starting returns the context for beginning changes: it ends with ctx, or at the job's time.
func Starting(ctx context.Context, t Times) (context.Context, context.CancelFunc) {
	if at := t.StopStarting; !at.IsZero() {
		return context.WithDeadlineCause(ctx, at, ErrTime)
	}
	return context.WithCancel(ctx)
}

// Calling returns the context at whose end providers are asked to stop the calls under way, and
// the time for their answers, after which they are killed. A plan's end with its work.
func Calling(ctx context.Context, j Job) (context.Context, context.CancelFunc, time.Duration) {
	if j.Access != Writes {
		return ctx, func() {}, 0
	}
	t := j.Times
	calls, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() {
		time.AfterFunc(callsAfter, func() { cancel(context.Cause(ctx)) })
	})
	end := func() { stop(); cancel(nil) }
	if t.StopCalls.IsZero() {
		return calls, end, stopGrace
	}
	at, release := context.WithDeadlineCause(calls, t.StopCalls, ErrTime)
	// The other half is for the state and the journal.
	return at, func() { release(); end() }, t.End.Sub(t.StopCalls) / 2
}
