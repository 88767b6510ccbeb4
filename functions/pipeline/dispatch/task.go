package dispatch

import (
	"cmp"
	"time"

	"github.com/lockstep-iac/lockstep/functions/pipeline"
	"github.com/lockstep-iac/lockstep/functions/pipeline/gatefacts"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/applyrun"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/drift"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/integrations"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/ledger"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/locking"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/openplans"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/plannedoutputs"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/planrun"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/ratelimits"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/replanning"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/report"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/shadowing"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/steps"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/stopping"
	"github.com/lockstep-iac/lockstep/functions/pipeline/jobs"
)

// A task has the handlers for one message.
type task struct {
	message  pipeline.Message
	attempt  int           // the number of the attempt at the message, from 1
	every    time.Duration // between two looks
	log      func(error)
	queue    pipeline.Queue
	ledger   ledger.Ledger
	leases   *ledger.Holder
	facts    *gatefacts.Reader
	report   *report.Reporter
	commands *commands
	plans    *planrun.PlanQueuer
	planner  *planrun.Planner
	tester   *planrun.Tester
	querier  *planrun.Querier
	closer   *applyrun.Closer
	applier  *applyrun.Applier
	waves    *applyrun.Waves
	recover  *applyrun.Recoverer
	open     openplans.Finder
	checker  *replanning.Checker
	drift    *drift.Finder
	shadows  *shadowing.Shadower
	foreseer plannedoutputs.Foreseer
	merger   integrations.Merger
	teller   integrations.Teller
	recorder integrations.Recorder
	queuer   *queuer
}

// task returns the handlers for a message.
func (p *Pipeline) task(m pipeline.Message, hub GitHub, tries *ledger.Attempts) *task {
	projects := p.Projects
	if projects == nil {
		projects = jobs.LocalProjects{}
	}
	queue, engine := p.stamped(p.planQueue()), p.Engine
	if p.Measure != nil {
		engine = measured{p.Engine, p.Measure}
	}
	hub = newIssueReader(hub, p.Ledger(), m.Pull)
	t := &task{message: m, log: p.log, queue: queue, ledger: p.Ledger(), every: cmp.Or(p.LookEvery, ratelimits.LookEvery)}
	t.leases = &ledger.Holder{Ledger: t.ledger, Message: m}
	t.facts = &gatefacts.Reader{Message: m, Hub: hub, Ledger: t.ledger, Projects: projects, States: p.States, Scratch: p.Scratch, Runners: p.Runners, Bases: p.Bases, Checkouts: p.Checkouts, FindUnits: p.FindUnits, Deployment: p.Deployment, Serves: p.serves}
	t.report = &report.Reporter{
		Facts: t.facts, Hub: hub, Ledger: t.ledger, Leases: t.leases, Artifacts: p.Artifacts, Queue: queue,
		Secrets: p.Secrets, Where: p.Where,
	}
	t.open = openplans.Finder{Ledger: t.ledger, Queue: queue}
	t.plans = &planrun.PlanQueuer{Facts: t.facts, Report: t.report, Ledger: t.ledger, Projects: projects, TryPolicies: p.TryPolicies, Queue: queue, Ahead: p.planQueue().Ahead, Loud: p.Loud, OwnChecks: p.OwnChecks, SharedSize: p.SharedSize, Tell: t.tell}
	t.foreseer = plannedoutputs.Foreseer{Facts: t.facts, Ledger: t.ledger, Artifacts: p.Artifacts, Queue: queue}
	hooks, run := integrations.Hooks{Facts: t.facts, Call: p.Hook}, steps.Runner{Facts: t.facts, Run: p.Step, Artifacts: p.Artifacts, Clean: t.report.Clean}
	applies := &applyrun.ApplyQueuer{Facts: t.facts, Report: t.report, Ledger: t.ledger, Queue: queue, Tell: t.tell, Audit: p.Audit}
	t.planner = &planrun.Planner{
		Facts: t.facts, Report: t.report, Ledger: t.ledger, Leases: t.leases,
		Artifacts: p.Artifacts, Projects: projects, Engine: engine, Open: t.open, Hooks: hooks, Steps: run, Poll: p.Poll, Follow: applies.ApplyAfterPlan, Foreseer: t.foreseer, Builder: p.builder(m),
	}
	t.tester = &planrun.Tester{Facts: t.facts, Report: t.report, Ledger: t.ledger, Leases: t.leases, Engine: engine, Steps: run, Poll: p.Poll}
	t.querier = &planrun.Querier{Facts: t.facts, Report: t.report, Ledger: t.ledger, Queue: queue, Engine: engine, Steps: run, Hub: hub}
	t.shadows = &shadowing.Shadower{Facts: t.facts, Hub: hub, Report: t.report, Ledger: t.ledger, Queue: queue, Engine: engine, Projects: projects, Steps: run}
	t.report.Shadow, t.plans.Shadow = t.shadows.Compare, t.shadows.Enqueue
	t.drift = &drift.Finder{Facts: t.facts, Hub: hub, Report: t.report, Ledger: t.ledger, Queue: queue, Engine: engine, Steps: run, Teller: integrations.Teller{Facts: t.facts, Ledger: t.ledger, Notify: p.Notify, Log: p.Log}}
	t.checker = &replanning.Checker{
		Facts: t.facts, Report: t.report, Ledger: t.ledger,
		Artifacts: p.Artifacts, Projects: projects, Engine: engine, Foreseer: t.foreseer, Hooks: hooks, Steps: run, Poll: p.Poll,
	}
	t.merger = integrations.Merger{Facts: t.facts, Report: t.report, Ledger: t.ledger, Hub: hub}
	t.recorder = integrations.Recorder{Facts: t.facts, Ledger: t.ledger, Hub: hub, Log: p.Log}
	t.queuer = &queuer{Facts: t.facts, Report: t.report, Ledger: t.ledger, Queue: queue}
	t.teller = integrations.Teller{Facts: t.facts, Ledger: t.ledger, Notify: p.Notify, Log: p.Log}
	t.closer = &applyrun.Closer{Facts: t.facts, Report: t.report, Ledger: t.ledger, Queuer: applies, Open: t.open, Artifacts: p.Artifacts}
	t.applier = &applyrun.Applier{
		Facts: t.facts, Report: t.report, Ledger: t.ledger, Leases: t.leases, Closer: t.closer, Tries: tries,
		Artifacts: p.Artifacts, Projects: projects, Queue: queue, Engine: engine, Hooks: hooks, Steps: run, Audit: p.Audit, Builder: p.builder(m), StopBefore: p.StopBefore, Poll: p.Poll,
	}
	t.waves = &applyrun.Waves{Facts: t.facts, Report: t.report, Ledger: t.ledger, Queuer: applies, Closer: t.closer, Applier: t.applier}
	t.recover = &applyrun.Recoverer{Facts: t.facts, Report: t.report, Ledger: t.ledger, Queue: queue, Engine: engine, Audit: p.Audit}
	t.commands = &commands{
		Recover: t.recover,
		Querier: t.querier,
		Drift:   t.drift,
		Waves:   t.waves,
		Stopper: &stopping.Stopper{Facts: t.facts, Ledger: t.ledger},
		Facts:   t.facts, Report: t.report, Ledger: t.ledger, Plans: t.plans, Applies: applies, Queue: queue, MaxCommands: p.MaxCommands, MaxStrangers: p.MaxStrangers,
		Locker:   &locking.Locker{Facts: t.facts, Ledger: t.ledger, Open: t.open, Audit: p.Audit},
		Unlocker: &applyrun.Unlocker{Facts: t.facts, Report: t.report, Ledger: t.ledger, Open: t.open, Engine: engine, Audit: p.Audit},
		Override: &applyrun.Overrider{Facts: t.facts, Ledger: t.ledger, Audit: p.Audit},
	}
	return t
}
