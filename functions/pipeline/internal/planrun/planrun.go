// Package planrun plans pull requests: it finds the projects that a push or a command selects,
// queues a run for each, and makes the plan when its message comes.
//
//	PlanQueuer   gate -> trial merge -> projects -> runs Queued, and a message for each
//	Planner      message -> checkout of the merge -> engine -> artifacts -> Planned
//
// A project that the pull request removes is one, too: its run is Removed, and its plan destroys its objects, by the
// configuration that the base branch has. Comments apply it by its name; merges never do.
//
// A newer push takes precedence: it raises a run's Attempt, the message of the older one finds
// that and ends, and a plan in the making is stopped.
//
// The package refuses to know how a plan is made and how people read it. Start at
// [PlanQueuer.Push] and [Planner.Plan].
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
	Facts    *gatefacts.Reader
	Report   *report.Reporter
	Ledger   ledger.Ledger
	Projects jobs.Projects
	Rehearse jobs.TryPoliciesFunc // nil: policies are not tried
	Queue    pipeline.Queue
	// Ahead returns the number of plans of a repository that come before one that is queued now.
	Ahead func(context.Context, pipeline.Pull) (int, error)
	// Loud is the maximum of plans of one push or command that are told of one by one; 0 is DefaultLoud.
	Loud int
	// Tell tells GitHub and people elsewhere of the outcomes of the pull request's applies. It is called before a run that had an
	// apply goes on, and can be repeated.
	Tell func(context.Context) error

	quiet bool
}

// crowd is a number of plans that hold others of their repository up: no deployment makes fewer at a time, but for small ones.
const crowd = 10

// DefaultLoud is a number of projects whose check runs and comments stay below GitHub's limits.
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
	// Follow queues the apply that was requested together with a plan, or answers why there is none. It
	// is called once the plan is shown, and can be repeated.
	Follow func(ctx context.Context, r runs.Run) error
	// Poll is the interval at which a plan in the making looks for a newer one; 0 is 5 s.
	Poll time.Duration
}
