package jobs

import (
	"context"
	"errors"
	"time"
)

// ErrTime is the cause of a context that has ended because an apply has reached its time limit.
var ErrTime = errors.New("the time that one run may take is over")

const (
	// callsAfter is how long calls in progress may continue after an apply was stopped. Providers are then
	// asked to end them.
	callsAfter = time.Minute
	// stopGrace is how long providers have to end their calls, after they were asked to. It is used if the job
	// sets no times.
	stopGrace = time.Minute
)

// StartingContext returns a context for beginning changes. It ends with ctx, or at the time
// [Times.StopStarting].
func StartingContext(ctx context.Context, t Times) (context.Context, context.CancelFunc) {
	if at := t.StopStarting; !at.IsZero() {
		return context.WithDeadlineCause(ctx, at, ErrTime)
	}
	return context.WithCancel(ctx)
}

// CallingContext returns a context at whose end providers are asked to stop the calls in progress. The duration
// is the time that they have for that before they are killed. For a plan, the context is ctx and the duration
// 0.
func CallingContext(ctx context.Context, j Job) (context.Context, context.CancelFunc, time.Duration) {
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
	// Providers get half of the remaining time. The other half is for writing the state and the journal.
	return at, func() { release(); end() }, t.End.Sub(t.StopCalls) / 2
}
