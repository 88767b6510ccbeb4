// Package buildrunner hands applies to builds, which may take hours where a function has minutes, and watches them.
//
// The message of the apply keeps its place in the queue: it comes again and again, and whoever takes it looks at the
// build. The build's process handles the same message with the same lease and fence as any other one, so nothing
// of an apply is different there but the end of its time:
//
//	record   written before a build is started, so that a start is never forgotten
//	start    with a token that names it. An answer that was lost is found by the lease that the build's process takes
//	look     at the build, until the run's record has an end
//	over     a build that has certainly ended before its time leaves neither lease nor apply in the way of the next one
//
// The package refuses to know AWS. Start at [Builder.Watch].
package buildrunner

import (
	"context"
	"fmt"
	"time"

	"github.com/lockstep-iac/lockstep/functions/pipeline"
)

// A Service starts builds and looks at them.
type Service interface {
	// Start starts a build that handles a message, and returns its ID. Starting again with the same token, some minutes
	// later at most, is starting once. The error is a *RefusedError if repeating does not help.
	Start(ctx context.Context, token string, m pipeline.Message) (id string, err error)
	// Look returns how a build ended.
	Look(ctx context.Context, id string) (End, error)
	// Stop ends a build.
	Stop(ctx context.Context, id string) error
}

// An End is how a build ended.
type End string

const (
	Working  End = ""          // it may be at work
	Done     End = "done"      // its process has ended as it should
	Failed   End = "failed"    // its process has failed, or was never begun
	Stopped  End = "stopped"   // somebody has stopped it
	TimedOut End = "timed out" // it took longer than it may
	Faulty   End = "faulty"    // a fault of the service
	Gone     End = "gone"      // the service does not know it
)

// StoppedBy is who orders the stop of an apply whose build was stopped by hand.
const StoppedBy = "whoever stopped its build"

// sentence tells people how a build ended; it goes on after another one that has no full stop.
func sentence(id string, e End) string {
	at := fmt.Sprintf(". The build %s in CodeBuild ", id)
	switch e {
	case Failed:
		return at + "failed: its log has the reason. Where it has none, the project of CodeBuild may lack rights, or a way to S3 and GitHub"
	case TimedOut:
		return at + "took longer than the deployment lets a build take"
	case Faulty:
		return at + "was ended by a fault of CodeBuild"
	case Gone:
		return at + "is not known there any more"
	case Done:
		return at + "ended before the apply did"
	}
	return ""
}

// A RefusedError is a service that will not start a build, however often it is asked.
type RefusedError struct{ Err error }

// Error implements error.
func (e *RefusedError) Error() string { return e.Err.Error() }

// Unwrap returns the service's error.
func (e *RefusedError) Unwrap() error { return e.Err }

// The least and the longest time between two looks at a build.
const (
	leastPause = 10 * time.Second
	mostPause  = 6 * time.Minute
)

// pause is the time until the next look at a build that has begun so long ago: a part of it, so that what waits behind it
// waits a little longer. Each look is a receive of the message: 36 hours are some 400 of the 500 that there are.
func pause(since time.Duration) time.Duration {
	return min(max(since/6, leastPause), mostPause)
}
