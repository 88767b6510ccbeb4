// Package applyrun applies saved plans, releases the locks that applies left, and settles the runs of a closed
// pull request.
//
//	ApplyQueuer  gate -> ApplyQueued, and a message
//	Applier      message -> gate -> are the files the same? -> engine, which asks the gate again
//	             with the state locked -> apply record -> changes -> Applied
//	Waves        applies that wait for other projects are queued or answered
//	Closer       merged or closed: applies what waited for the merge, drops the rest
//	Unlocker     releases locks of earlier applies of the pull request
//
// After the merge, a person can ask for a new plan of changes that are not applied. The run of such a plan is
// AfterMerge. Its plan is made from the tip of the base branch. Events of the merge do not affect it. A comment
// applies it, whatever the settings say.
//
// An apply begins once. The apply record is written before the first change. A process that finds a record
// without an outcome continues from the journal, or reports a failure; it never begins again.
//
// This package does not know how a plan is applied, and decides nothing that the gate decides. Start reading
// at [Applier.Apply].
package applyrun

import (
	"context"
	"time"

	"github.com/lockstep-iac/lockstep/functions/pipeline"
	"github.com/lockstep-iac/lockstep/functions/pipeline/audit"
	"github.com/lockstep-iac/lockstep/functions/pipeline/buildrunner"
	"github.com/lockstep-iac/lockstep/functions/pipeline/gatefacts"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/integrations"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/ledger"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/openplans"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/report"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/steps"
	"github.com/lockstep-iac/lockstep/functions/pipeline/jobs"
)

// An ApplyQueuer queues the applies that a command or a merge asks for.
type ApplyQueuer struct {
	Facts  *gatefacts.Reader
	Report *report.Reporter
	Ledger ledger.Ledger
	Queue  pipeline.Queue
	// Tell reports the results of the pull request's applies to GitHub and to people elsewhere. It is called
	// before the phase of an applied run changes. It can be repeated.
	Tell  func(context.Context) error
	Audit audit.Trail
}

// An Unlocker releases the locks of states, both those of applies and those of people.
type Unlocker struct {
	Facts  *gatefacts.Reader
	Report *report.Reporter
	Ledger ledger.Ledger
	Open   openplans.Finder
	Engine jobs.Engine
	Audit  audit.Trail
}

// A Closer handles the runs of a pull request that was merged or closed.
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
	Steps     steps.Runner
	// Audit records each apply before its first change, and before its result is reported.
	Audit audit.Trail
	// Builder lets builds make the applies of environments that ask for that.
	Builder buildrunner.Builder
	// Poll is how often an apply checks whether it must stop; 0 means 5 s.
	Poll time.Duration
	// Tries counts the attempts at the message.
	Tries *ledger.Attempts
	// StopBefore is how long before the end of the process' time an apply stops beginning changes; 0 means
	// pipeline.DefaultStopBefore.
	StopBefore time.Duration

	left bool // see releaseLeft
}
