// Package planrun plans pull requests. It finds the projects that a push or a command selects, queues a run for
// each, and makes the plan when the run's message comes.
//
//	PlanQueuer   gate -> trial merge -> projects -> runs Queued, and a message for each
//	Planner      message -> checkout of the merge -> engine -> artifacts -> Planned
//	Tester       message -> checkout of the merge -> engine -> check run
//	Querier      command -> gate -> message -> checkout of the merge -> engine -> answer
//
// A project that the pull request removes gets a run, too. Its plan destroys the project's objects, with the
// configuration on the base branch. Only a comment that names the project applies such a plan, and never a
// merge.
//
// A newer push takes precedence. It increases the run's field Attempt. The message of the older plan sees that
// and ends, and a plan in progress is stopped.
//
// The package does not know how a plan is made and how people read it. Start reading at [PlanQueuer.Push] and
// [Planner.Plan].
package planrun

import (
	"context"
	"time"

	"github.com/lockstep-iac/lockstep/functions/pipeline"
	"github.com/lockstep-iac/lockstep/functions/pipeline/buildrunner"
	"github.com/lockstep-iac/lockstep/functions/pipeline/gatefacts"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/integrations"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/ledger"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/openplans"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/plannedoutputs"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/report"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/steps"
	"github.com/lockstep-iac/lockstep/functions/pipeline/jobs"
	"github.com/lockstep-iac/lockstep/functions/pipeline/runs"
)

// A PlanQueuer queues the plans that a push or a command requests.
type PlanQueuer struct {
	Facts       *gatefacts.Reader
	Report      *report.Reporter
	Ledger      ledger.Ledger
	Projects    jobs.Projects
	TryPolicies jobs.TryPoliciesFunc // nil means that policies are not tried
	Queue       pipeline.Queue
	// Ahead returns how many plans of the repository would be made before a plan that is queued now.
	Ahead func(context.Context, pipeline.Pull) (int, error)
	// Loud is the maximum number of plans, of one push or command, that are reported separately; 0 means
	// DefaultLoud.
	Loud int
	// Shadow plans the projects of a head that are in shadow mode.
	Shadow func(context.Context, ledger.Look) error
	// Tell reports the results of the pull request's applies to GitHub and to people elsewhere. It is called
	// before the phase of an applied run changes. It can be repeated.
	Tell func(context.Context) error

	// OwnChecks and SharedSize are as in [dispatch.Pipeline].
	OwnChecks, SharedSize int

	quiet bool
	// known are the runs of the pull request before the command.
	known []runs.Run
	// slots are the slots of projects that the pull request has for the first time, by target. forced are the names of the
	// check runs that the base branch requires, if there are so many projects that some share one.
	slots  map[string]int
	forced map[string]bool
	// silent is set if all projects of the base branch are in shadow mode.
	silent bool
}

// crowd is a number of waiting plans. If at least this many plans wait, people are told that a new plan has to
// wait. Nearly all deployments make at least this many plans at the same time.
const crowd = 10

// DefaultLoud is the default maximum number of plans, of one push or command, that are reported separately.
// Check runs and comments for so many projects are within GitHub's limits.
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
	Steps     steps.Runner
	Foreseer  plannedoutputs.Foreseer
	// Follow queues an apply that was requested together with a plan, or answers why it does not. It is called
	// after the plan was shown, and can be repeated.
	Follow func(ctx context.Context, r runs.Run) error
	// Builder lets builds make the plans of environments with an image.
	Builder buildrunner.Builder
	// Poll is how often a plan in progress checks whether a newer plan is requested; 0 means 5 s.
	Poll time.Duration
}
