// Package applyrun applies saved plans, releases the locks that applies left, and settles the
// runs of a pull request that is closed.
//
//	ApplyQueuer  gate -> ApplyQueued, and a message
//	Applier      message -> gate -> the same files still? -> engine, which asks the gate again
//	             with the state locked -> apply record -> changes -> Applied
//	Waves        applies that wait for those of other projects: queued, or answered
//	Closer       merged or closed: applies what waited for the merge, drops the rest
//	Unlocker     locks of earlier applies of the pull request
//
// What was merged and is not applied can be planned again, by a person, on the merged pull request: such a run is
// AfterMerge. Its plan is of the tip of the base branch, an event of the merge does not touch it, and it is applied by a
// comment, whatever the settings say of the occasion.
//
// An apply is begun once: an apply record is written before the first change, and a process
// that finds one without an outcome reports a failure instead of trying again.
//
// The package refuses to know how a plan is carried out, and decides nothing that the gate
// decides. Start at [Applier.Apply].
package applyrun

import (
	"context"
	"time"

	"github.com/lockstep-iac/lockstep/functions/pipeline"
	"github.com/lockstep-iac/lockstep/functions/pipeline/buildrunner"
	"github.com/lockstep-iac/lockstep/functions/pipeline/gatefacts"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/integrations"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/ledger"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/openplans"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/report"
	"github.com/lockstep-iac/lockstep/functions/pipeline/jobs"
)

// An ApplyQueuer queues the applies that a command, or a merge, asks for.
type ApplyQueuer struct {
	Facts  *gatefacts.Reader
	Report *report.Reporter
	Ledger ledger.Ledger
	Queue  pipeline.Queue
	// Tell tells GitHub and people elsewhere of the outcomes of the pull request's applies. It is called before a run that had an
	// apply goes on, and can be repeated.
	Tell func(context.Context) error
}

// An Unlocker releases locks of states, and lifts those of persons.
type Unlocker struct {
	Facts  *gatefacts.Reader
	Report *report.Reporter
	Ledger ledger.Ledger
	Open   openplans.Finder
	Engine jobs.Engine
}

// A Closer settles the runs of a pull request that is not open any more.
type Closer struct {
	Facts     *gatefacts.Reader
	Report    *report.Reporter
	Ledger    ledger.Ledger
	Queuer    *ApplyQueuer
	Open      openplans.Finder
	Artifacts pipeline.Artifacts
}

// An Applier applies the plan of one run.
type Applier struct {
	Facts     *gatefacts.Reader
	Report    *report.Reporter
	Ledger    ledger.Ledger
	Leases    *ledger.Holder
	Closer    *Closer
	Artifacts pipeline.Artifacts
	Projects  jobs.Projects
	Queue     pipeline.Queue
	Engine    jobs.Engine
	Hooks     integrations.Hooks
	// Builder hands applies to builds, where their environment wants that.
	Builder buildrunner.Builder
	// Poll is the interval at which an apply looks for an order to stop; 0 is 5 s.
	Poll time.Duration
	// Tries counts the attempts at the message.
	Tries *ledger.Attempts
	// StopBefore is how long before the end of the process' time an apply begins no more
	// changes; 0 is pipeline.DefaultStopBefore.
	StopBefore time.Duration

	left bool // see releaseLeft
}
