package jobs

import (
	"context"
	"errors"
	"time"
)

// ErrTime is the cause when an apply is stopped at its time limit.
var ErrTime = errors.New("the time that one run may take is over")

const (
	// callsAfter is how long calls under way may continue after an apply was stopped. Then providers are asked
	// to end them. It counts if the job has no times of its own.
	callsAfter = time.Minute
	// stopGrace is how long providers have for their answers then.
	stopGrace = time.Minute
)

// StartingContext returns the context for beginning changes. It ends with ctx, or at the job's time.
func StartingContext(ctx context.Context, t Times) (context.Context, context.CancelFunc) {
	if at := t.StopStarting; !at.IsZero() {
		return context.WithDeadlineCause(ctx, at, ErrTime)
	}
	return context.WithCancel(ctx)
}

// CallingContext returns the context at whose end providers are asked to stop the calls under way. It also
// returns the time for their answers, after which providers are killed. For a plan both end with its work.
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
	// The other half of the time is for the state and the journal.
	return at, func() { release(); end() }, t.End.Sub(t.StopCalls) / 2
}
