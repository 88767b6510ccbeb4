// Package buildrunner lets builds carry out applies, and make plans in an image of a team's own. A build may run for
// hours, but a Lambda function only for minutes. The package also watches the builds.
//
// The message of the apply keeps its place in the queue. The queue delivers it again and again, and each time
// its handler looks at the build. The build's process handles the same message in the same way as any other
// process, with the same lease and fence. It only has more time.
//
//	record   written before a build is started, so that a start is never forgotten
//	start    with a token that names it. If the answer is lost, the lease of the build's process shows that it started
//	look     at the build, until the run's record has an end
//	over     if a build has certainly ended early, its lease and its apply do not block the next build
//
// The message of a plan does not wait in its queue: see [Builder.Plan].
//
// The package does not know AWS. Start reading at [Builder.Watch].
package buildrunner

import (
	"context"
	"fmt"
	"time"

	"github.com/lockstep-iac/lockstep/functions/pipeline"
)

// A Service starts and stops builds, and reports how they ended.
type Service interface {
	// Start starts a build that handles the message m, and returns the build's ID. A second call with the same
	// token, within some minutes, starts nothing. image is the image of the build, by digest; "" for the
	// deployment's. The error is a *RefusedError if repeating the call does not help.
	Start(ctx context.Context, token, image string, m pipeline.Message) (id string, err error)
	// Look returns how a build ended.
	Look(ctx context.Context, id string) (End, error)
	// Stop ends a build.
	Stop(ctx context.Context, id string) error
}

// An End says how a build ended.
type End string

const (
	Working  End = ""          // the build may be working
	Done     End = "done"      // its process ended normally
	Failed   End = "failed"    // its process failed, or never began
	Stopped  End = "stopped"   // a person stopped it
	TimedOut End = "timed out" // it took too long
	Faulty   End = "faulty"    // a fault of the service
	Gone     End = "gone"      // the service does not know it
)

// StoppedBy is used instead of a login if an apply was stopped because somebody stopped its build by hand.
const StoppedBy = "whoever stopped its build"

// sentence returns a text for people that says how a build ended. It is the end of a sentence without a full
// stop.
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

// A RefusedError reports that a service will not start a build, and that repeating the request is useless.
type RefusedError struct{ Err error }

// Error implements error.
func (e *RefusedError) Error() string { return e.Err.Error() }

// Unwrap returns the service's error.
func (e *RefusedError) Unwrap() error { return e.Err }

// These are the shortest and the longest time between two looks at a build.
const (
	leastPause = 10 * time.Second
	mostPause  = 6 * time.Minute
)

// pause returns the time until the next look at a build. It is a fraction of since, the time for which the
// build has run. So later messages, which wait for the build, are delayed only a little. Each look is one
// receive of the message: in 36 hours, about 400 of the 500 possible receives.
func pause(since time.Duration) time.Duration {
	return min(max(since/6, leastPause), mostPause)
}
