// Package dispatch passes each message to the handler for its kind. A message that is delivered several times,
// or by two queues, is handled once.
//
//	triggers.go   the kinds of messages, with the functions that handle them and that give them up
//	commands.go   the commands of comments, with their handlers
//	task.go       the handlers for one message
//
// The package does not do the work of the handlers. Start reading at [Pipeline.Handle].
package dispatch

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/lockstep-iac/lockstep/functions/metrics"
	"github.com/lockstep-iac/lockstep/functions/pipeline"
	"github.com/lockstep-iac/lockstep/functions/pipeline/audit"
	"github.com/lockstep-iac/lockstep/functions/pipeline/buildrunner"
	"github.com/lockstep-iac/lockstep/functions/pipeline/gatefacts"
	"github.com/lockstep-iac/lockstep/functions/pipeline/intake"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/ledger"
	"github.com/lockstep-iac/lockstep/functions/pipeline/jobs"
	"github.com/lockstep-iac/lockstep/functions/places"
	"github.com/lockstep-iac/lockstep/github"
)

// A Pipeline handles messages. It contains no state, so several pipelines may use the same records.
type Pipeline struct {
	// Connect opens the repository of a pull request, with the rights of the pull request's installation.
	Connect func(pipeline.Pull) (GitHub, error)
	// Inventory lists the repositories that the App can access. If it is nil, nobody searches for transferred
	// repositories.
	Inventory Inventory
	Records   pipeline.Records
	Artifacts pipeline.Artifacts
	Queue     pipeline.Queue
	// Audit records what was decided about states, and done.
	Audit  audit.Trail
	Engine jobs.Engine
	// Hook calls the hooks of base branches. If it is nil, no hook can be called, and each hook counts as
	// failed.
	Hook jobs.HookFunc
	// Step runs the steps of lockstep.hcl. If it is nil, no step can run: plans with a step on "generate" fail, and
	// required steps block applies.
	Step jobs.StepFunc
	// FindUnits finds the units of Terragrunt in checkouts. If it is nil, no program can run, and repositories with a
	// terragrunt block in lockstep.hcl have no units.
	FindUnits jobs.FindUnitsFunc
	// Notify delivers the notifications of base branches; if it is nil, they are dropped.
	Notify jobs.NotifyFunc
	// Projects finds and reads the projects in checkouts. If it is nil, this process finds and reads
	// them itself.
	Projects jobs.Projects
	// TryPolicies checks the policies that a pull request changes. If it is nil, errors in policies are noticed
	// only after the merge.
	TryPolicies jobs.TryPoliciesFunc
	// States are the patterns of addresses that every repository may use for its own states; nil allows none.
	States places.Own
	// Serves are the owners and repositories for which Lockstep works. Messages of all others are refused.
	Serves intake.Serves
	// Deployment is the name of this deployment; "" for none. It works for projects whose environments name it.
	Deployment string
	// Log is called with the reason for each refused message. It may be nil.
	Log func(error)
	// Scratch is the directory for checkouts, which are removed after use; "" means the system's.
	Scratch string
	// Secrets are removed from everything that is written on a pull request.
	Secrets []github.Secret
	// Where tells people where an artifact is: an address, or a command that fetches it. It is nil if they
	// cannot read artifacts.
	Where func(pipeline.Artifact) string
	// Poll is how often plans and applies check whether they must stop. Plans also check for newer plans. 0
	// means 5 s.
	Poll time.Duration
	// MaxCommands is the maximum number of comments with commands by one person on one pull request in an hour;
	// 0 means ratelimits.MaxCommands.
	MaxCommands int
	// MaxStrangers is the maximum number of comments with commands that are answered, on one pull request in an
	// hour, for all people without write access together, in a public repository; 0 means ratelimits.MaxStrangers.
	MaxStrangers int
	// Share is the maximum number of plans of one repository that are in the queue at the same time. It should
	// be the number of plans that are made in parallel: a larger number makes no plan faster, and makes other
	// repositories wait longer. 0 means no limit. Use 0 for queues in which repositories take turns.
	Share int
	// LookEvery is the minimum time between two reads of a pull request that are caused by events, such as
	// reported checks. 0 means ratelimits.LookEvery.
	LookEvery time.Duration
	// Loud is the maximum number of plans of one push or command that are reported separately. More
	// plans are reported together. 0 means planrun.DefaultLoud.
	Loud int
	// OwnChecks is the number of projects of a pull request that have check runs of their own, and SharedSize the number of
	// others that share one; 0 means pipeline.OwnChecks and pipeline.SharedSize.
	OwnChecks, SharedSize int
	// Runners are the runners that environments may name in this deployment.
	Runners []string
	// Builds runs the applies of environments that name a build as their runner, and the plans of those that name
	// an image. If it is nil, they run in this process.
	Builds buildrunner.Service
	// Measure records measurements, and Trace begins a span for each message. If one of them is nil,
	// its data is dropped.
	Measure metrics.Func
	Trace   metrics.Tracer
	// Build is the ID of the build in which this process handles its only message; "" outside of builds.
	Build string
	// Bases caches commits of base branches that this process has read. If it is nil, they are read for each
	// message.
	Bases *gatefacts.Bases
	// Checkouts keeps checkouts for later messages. It must be nil if this process handles several messages at a time. nil
	// keeps none.
	Checkouts *gatefacts.Checkouts
	// StopBefore is how long before the end of the process an apply stops beginning changes; 0 means
	// DefaultStopBefore.
	StopBefore time.Duration
}

// Intake returns the intake that sends messages to the pipeline's queue.
func (p *Pipeline) Intake() *intake.Intake {
	return &intake.Intake{Records: p.Records, Queue: p.stamped(p.Queue), Serves: p.Serves, Log: p.Log}
}

// planQueue returns the pipeline's queue with limited numbers of plans for each repository: see [planQueue].
func (p *Pipeline) planQueue() *planQueue {
	return &planQueue{Queue: p.Queue, ledger: p.Ledger(), share: p.Share}
}

// stamped returns the queue. If metrics or traces are recorded, each message of this queue says what
// has caused it.
func (p *Pipeline) stamped(q pipeline.Queue) pipeline.Queue {
	if p.Measure == nil && p.Trace == nil {
		return q
	}
	return pipeline.Stamped{Queue: q}
}

// Ledger returns the pipeline's records.
func (p *Pipeline) Ledger() ledger.Ledger { return ledger.Ledger{Records: p.Records, Build: p.Build} }

// Handle handles a message, if Lockstep works for its repository. If it returns an error, another attempt may
// help.
func (p *Pipeline) Handle(ctx context.Context, m pipeline.Message) error {
	began := time.Now()
	span, end := p.Trace.Begin(m.Cause.Span, string(m.Kind), startOf(m), "repository", m.Pull.Repository(), "pull", strconv.Itoa(m.Pull.Number), "run", m.Target)
	ctx = pipeline.WithCause(ctx, pipeline.Cause{Received: m.Cause.Received, Span: span})
	err := p.handle(ctx, m)
	end(err)
	if m.Kind == pipeline.ToPlan && err == nil && !m.Cause.Received.IsZero() {
		p.Measure.Observe(metrics.PlanReadySeconds, time.Since(m.Cause.Received).Seconds())
	}
	p.Measure.Observe(metrics.Messages, 1, string(m.Kind), resultOf(err))
	p.Measure.Observe(metrics.MessageSeconds, time.Since(began).Seconds(), string(m.Kind))
	if err != nil {
		return err
	}
	if err := p.planQueue().handled(ctx, m); err != nil {
		return fmt.Errorf("handle %s: %w", m.ID, err)
	}
	return nil
}

// startOf returns the start of a message's span. The first span of a trace begins with the webhook.
func startOf(m pipeline.Message) time.Time {
	if m.Cause.Span == "" {
		return m.Cause.Received
	}
	return time.Time{}
}

// resultOf returns how the handling of a message ended, for metrics.
func resultOf(err error) string {
	switch {
	case err == nil:
		return metrics.Handled
	case errors.As(err, new(*pipeline.HandOver)):
		return metrics.HandedOver
	case errors.As(err, new(*pipeline.BusyError)):
		return metrics.Waits
	case errors.As(err, new(*github.RateLimitedError)):
		return metrics.Throttled
	}
	return metrics.Failed
}

func (p *Pipeline) handle(ctx context.Context, m pipeline.Message) error {
	if err := p.afford(ctx, m); err != nil {
		return fmt.Errorf("handle %s: %w", m.ID, err)
	}
	b := p.builder(m)
	if err := b.Watch(ctx); err != nil {
		return fmt.Errorf("handle %s: %w", m.ID, err)
	}
	return p.once(ctx, m, messageKey(m), func(t *task, ctx context.Context) error {
		if t.attempt > pipeline.MaxReceives {
			last, err := b.Last(ctx)
			if err != nil {
				return err
			}
			return p.Abandon(ctx, m, Exhausted+last)
		}
		return t.handle(ctx)
	})
}

// messageKey returns the key of the record that a message was handled.
func messageKey(m pipeline.Message) string { return "message/" + m.ID }

// once handles a message. It does nothing if a record shows that the message was already handled, or if
// Lockstep does not work for its repository.
func (p *Pipeline) once(ctx context.Context, m pipeline.Message, key string, do func(*task, context.Context) error) error {
	m, ok, err := p.letIn(ctx, m)
	if err != nil {
		return fmt.Errorf("handle %s: %w", m.ID, err)
	}
	if !ok && m.Event() {
		return nil
	}
	if !ok {
		return p.keep(ctx, m)
	}
	tries := &ledger.Attempts{Ledger: p.Ledger(), Key: key}
	if m.Event() || m.Kind == pipeline.Landed {
		m.ID = m.FirstID() // An earlier attempt may have begun an answer, and queued plans, under this ID.
	}
	// begin counts attempts only for applies and recoveries. The queue counts the attempts at all other
	// messages.
	begin := func(ctx context.Context) (int, error) {
		return tries.Begin(ctx, m.Kind == pipeline.ToApply || m.Kind == pipeline.ToRecover)
	}
	if p.Build != "" {
		begin = tries.Join
	}
	attempt, err := begin(ctx)
	if err != nil {
		return fmt.Errorf("handle %s: %w", m.ID, err)
	}
	if attempt == 0 {
		return nil
	}
	t, err := p.attempt(ctx, m, attempt, tries, do)
	if t == nil {
		return fmt.Errorf("handle %s: %w", m.ID, err)
	}
	if errors.Is(err, gatefacts.ErrGone) {
		p.log(fmt.Errorf("%s comes to nobody: %w", m.ID, err))
		return p.keep(ctx, m) // The message does not count as handled. The janitor sends it again when the repository is accessible.
	}
	if err == nil {
		err = tries.Finish(ctx)
		if errors.Is(err, pipeline.ErrConflict) {
			err = nil
		}
	}
	if errors.As(err, new(*pipeline.BusyError)) {
		tries.TakeBack(ctx)
		return fmt.Errorf("handle %s: %w", m.ID, err)
	}
	if errors.As(err, new(*pipeline.HandOver)) {
		// The lease is kept: it shows that another process must continue the work.
		return fmt.Errorf("handle %s: %w", m.ID, err)
	}
	if err != nil {
		// ctx may have ended, so the record is written with a new context.
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), letGoTimeout)
		defer cancel()
		return fmt.Errorf("handle %s: %w", m.ID, errors.Join(err, t.leases.LetGo(ctx)))
	}
	return nil
}

// letIn returns the message if Lockstep works for its repository. Otherwise it refuses the message, and ok is
// false. If the repository was renamed before Lockstep first read it, the returned message has the present
// name.
func (p *Pipeline) letIn(ctx context.Context, m pipeline.Message) (_ pipeline.Message, ok bool, err error) {
	service, err := p.Intake().Served(ctx, m.Pull.Repo)
	if err != nil || service.Allowed() {
		return m, service.Allowed(), err
	}
	if service.NameTaken() {
		if m, ok, err = p.findMoved(ctx, m); ok || err != nil {
			return m, ok, err
		}
	}
	p.refuseNotServed(ctx, m, service)
	return m, false, nil
}

// attempt makes one attempt at handling a message. If the repository was transferred, it makes a second attempt
// with the new name. The task is nil if the repository cannot be opened.
func (p *Pipeline) attempt(ctx context.Context, m pipeline.Message, nth int, tries *ledger.Attempts, do func(*task, context.Context) error) (*task, error) {
	hub, err := p.Connect(m.Pull)
	if err != nil {
		return nil, err
	}
	t := p.task(m, hub, tries)
	t.attempt = nth
	came := do(t, ctx)
	budget := hub.Budget()
	p.Measure.Observe(metrics.GitHubRequests, float64(budget.Used))
	if budget.Limit > 0 {
		p.Measure.Observe(metrics.GitHubLeft, float64(budget.Left))
	}
	if err := p.spend(ctx, m, budget); err != nil {
		p.log(err) // The work is done. Only the count of requests is wrong, and the next message counts again.
	}
	if !errors.Is(came, gatefacts.ErrGone) {
		return t, came
	}
	m, found, err := p.findMoved(ctx, m)
	if errors.Is(err, errBack) && strings.HasSuffix(tries.Key, givenUp) {
		return t, came
	}
	if err != nil {
		return t, err
	}
	if !found {
		return t, came
	}
	return p.attempt(ctx, m, nth, tries, do)
}

func (p *Pipeline) builder(m pipeline.Message) buildrunner.Builder {
	return buildrunner.Builder{Message: m, Ledger: p.Ledger(), Service: p.Builds}
}

// Exhausted is the reason for giving up a message that was tried the maximum number of times.
var Exhausted = fmt.Sprintf("%d attempts failed or were interrupted", pipeline.MaxReceives)

// letGoTimeout limits the time for releasing leases after an error. It is enough for two requests about a
// record. It is much less than the time that remains for a Lambda function whose work was cancelled.
const letGoTimeout = 5 * time.Second
