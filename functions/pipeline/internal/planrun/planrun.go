// Package planrun plans pull requests. It finds the projects that a push or a command selects, queues a run for
// each, and makes the plan when the run's message comes.
//
//	PlanQueuer   gate -> trial merge -> projects -> runs Queued, and a message for each
//	Planner      message -> checkout of the merge -> engine -> artifacts -> Planned
//	Tester       message -> checkout of the merge -> engine -> check run
//	Querier      command -> gate -> message -> checkout of the merge -> engine -> answer
//
// A project that the pull request removes gets a run, too. The run is Removed, and its plan destroys the
// project's objects with the base branch's configuration. A comment applies such a plan if it names the
// project. A merge never applies it.
//
// A newer push takes precedence. It raises a run's Attempt, so the message of the older plan ends when it sees
// that, and a plan in progress is stopped.
//
// This package does not know how a plan is made and how people read it. Start reading at [PlanQueuer.Push]
// and [Planner.Plan].
package planrun

import (
	"context"
	"time"

	"github.com/lockstep-iac/lockstep/functions/pipeline"
	"github.com/lockstep-iac/lockstep/functions/pipeline/gatefacts"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/integrations"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/ledger"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/openplans"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/plannedoutputs"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/report"
	"github.com/lockstep-iac/lockstep/functions/pipeline/jobs"
	"github.com/lockstep-iac/lockstep/functions/pipeline/runs"
)

// A PlanQueuer queues the plans that a push or a command asks for.
type PlanQueuer struct {
	Facts       *gatefacts.Reader
	Report      *report.Reporter
	Ledger      ledger.Ledger
	Projects    jobs.Projects
	TryPolicies jobs.TryPoliciesFunc // nil means that policies are not tried
	Queue       pipeline.Queue
	// Ahead returns how many plans of a repository come before a plan that is queued now.
	Ahead func(context.Context, pipeline.Pull) (int, error)
	// Loud is the maximum number of plans of one push or command that are reported one by one; 0 means
	// DefaultLoud.
	Loud int
	// Tell reports the outcomes of the pull request's applies to GitHub and to people elsewhere. It is called
	// before the phase of an applied run changes, and can be repeated.
	Tell func(context.Context) error

	quiet bool
}

// crowd is the number of waiting plans from which on people are told that a new plan has to wait. Nearly all
// deployments make at least this many plans at a time.
const crowd = 10

// DefaultLoud is the default maximum number of plans of one push or command that are reported one by one. The
// check runs and comments for so many projects stay below GitHub's limits.
const DefaultLoud = 20

// A Planner makes the plan of one run.
type Planner struct {
	Facts     *gatefacts.Reader
	Report    *report.Reporter
	Ledger    ledger.Ledger
	Leases    *ledger.Holder
	Artifacts pipeline.Artifacts
	Projects  jobs.Projects
	Engine    jobs.Engine
	Open      openplans.Finder
	Hooks     integrations.Hooks
	Foreseer  plannedoutputs.Foreseer
	// Follow queues the apply that was requested together with a plan, or answers why there is none. It is
	// called once the plan is shown, and can be repeated.
	Follow func(ctx context.Context, r runs.Run) error
	// Poll is how often a plan in progress looks for a newer one; 0 means 5 s.
	Poll time.Duration
}
