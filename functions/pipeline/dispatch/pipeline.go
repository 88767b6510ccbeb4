// Package dispatch hands each message to the handler for its kind. A message that is delivered several times,
// or by two queues, is handled once.
//
//	triggers.go   the kinds of messages, with the functions that handle them and that give them up
//	commands.go   the commands of comments, with their handlers
//	task.go       the handlers, made for one message
//
// This package does not do the work of a handler. Start reading at [Pipeline.Handle].
package dispatch

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/lockstep-iac/lockstep/functions/pipeline"
	"github.com/lockstep-iac/lockstep/functions/pipeline/buildrunner"
	"github.com/lockstep-iac/lockstep/functions/pipeline/gatefacts"
	"github.com/lockstep-iac/lockstep/functions/pipeline/intake"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/ledger"
	"github.com/lockstep-iac/lockstep/functions/pipeline/jobs"
	"github.com/lockstep-iac/lockstep/functions/places"
	"github.com/lockstep-iac/lockstep/github"
)

// A Pipeline handles messages. It has no state of its own, so any number of pipelines may use the same records.
type Pipeline struct {
	// Connect opens the repository of a pull request, with the rights of the pull request's installation.
	Connect func(pipeline.Pull) (GitHub, error)
	// Inventory lists the repositories that the App can access. If it is nil, nobody searches for transferred
	// repositories.
	Inventory Inventory
	Records   pipeline.Records
	Artifacts pipeline.Artifacts
	Queue     pipeline.Queue
	Engine    jobs.Engine
	// Hook calls the hooks of base branches. If it is nil, no hook can be called, and each hook counts as
	// failed.
	Hook jobs.StepFunc
	// Notify delivers the notifications of base branches; if it is nil, they are dropped.
	Notify jobs.NotifyFunc
	// Projects reads checkouts; nil means in this process.
	Projects jobs.Projects
	// TryPolicies tries the policies that a pull request changes. If it is nil, a broken policy is noticed only
	// after its merge.
	TryPolicies jobs.TryPoliciesFunc
	// States are the patterns of addresses that every repository may use for its own states; nil allows none.
	States places.Own
	// Serves are the owners and repositories that are served. Messages of all others are refused.
	Serves intake.Serves
	// Deployment is the name of this deployment; "" for none. It serves the projects whose environments name
	// it.
	Deployment string
	// Log gets an error for each refused message; it may be nil.
	Log func(error)
	// Scratch is the directory for checkouts, which are removed after use; "" means the system's.
	Scratch string
	// Secrets are removed from everything that is written on a pull request.
	Secrets []github.Secret
	// Where tells people where an artifact is: an address, or a command that fetches it. It is nil if they
	// cannot read artifacts.
	Where func(pipeline.Artifact) string
	// Poll is how often plans and applies look for orders to stop, and plans for newer plans; 0 means 5 s.
	Poll time.Duration
	// MaxCommands is how many comments with commands one person may write on one pull request in an hour; 0
	// means ratelimits.MaxCommands.
	MaxCommands int
	// MaxStrangers is how many comments with commands by people without write access, all together, are
	// answered on one pull request in an hour; 0 means ratelimits.MaxStrangers.
	MaxStrangers int
	// Share is how many plans of one repository are on the queue at a time. It should be the number of plans
	// that are made at the same time: a higher number speeds up no plan, and makes other repositories wait
	// longer. 0 means no limit, for a queue in which repositories take turns.
	Share int
	// LookEvery is the least time between two looks at a pull request for reported checks and similar events; 0
	// means ratelimits.LookEvery.
	LookEvery time.Duration
	// Loud is the maximum number of plans of one push or command that are reported one by one; 0 means
	// planrun.DefaultLoud.
	Loud int
	// Runners are the runners that environments may name in this deployment.
	Runners []string
	// Builds runs the applies of environments whose runner is a build; if it is nil, they run in this process.
	Builds buildrunner.Service
	// Build is the ID of the build in which this process handles its one message; "" outside of builds.
	Build string
	// Bases caches the commits of base branches that this process has read; if it is nil, each message reads
	// its own.
	Bases *gatefacts.Bases
	// StopBefore is how long before the end of the process an apply stops beginning changes; 0 means
	// DefaultStopBefore.
	StopBefore time.Duration
}

// Intake returns the intake that sends messages to the pipeline's queue.
func (p *Pipeline) Intake() *intake.Intake {
	return &intake.Intake{Records: p.Records, Queue: p.Queue, Serves: p.Serves, Log: p.Log}
}

// planQueue returns the pipeline's queue, with a share for each repository.
func (p *Pipeline) planQueue() *planQueue {
	return &planQueue{Queue: p.Queue, ledger: p.Ledger(), share: p.Share}
}

// Ledger returns the pipeline's records.
func (p *Pipeline) Ledger() ledger.Ledger { return ledger.Ledger{Records: p.Records, Build: p.Build} }

// Handle carries out the task of a message, if its repository is served. After an error another attempt may
// help.
func (p *Pipeline) Handle(ctx context.Context, m pipeline.Message) error {
	if err := p.handle(ctx, m); err != nil {
		return err
	}
	if err := p.planQueue().handled(ctx, m); err != nil {
		return fmt.Errorf("handle %s: %w", m.ID, err)
	}
	return nil
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

// once handles a message, unless a record shows that it was handled, or its repository is not served.
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
		m.ID = m.FirstID() // an answer may be begun, and plans queued, under this ID
	}
	// Begin counts attempts only for applies and recoveries. For all other messages the queue counts them.
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
		return p.keep(ctx, m) // it does not count as handled: the janitor sends it again, from wherever the repository is then
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
		// The lease stays. It shows that another process has to continue.
		return fmt.Errorf("handle %s: %w", m.ID, err)
	}
	if err != nil {
		// The context may have ended, so the record is written with another one.
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), letGoTimeout)
		defer cancel()
		return fmt.Errorf("handle %s: %w", m.ID, errors.Join(err, t.leases.LetGo(ctx)))
	}
	return nil
}

// letIn returns the message if its repository is served, and refuses it otherwise. If the repository was
// renamed before it was first looked at, the returned message has the present name.
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

// attempt makes one attempt at a message. If the repository has moved, it makes another attempt at the new
// place. The task is nil if the repository cannot be opened.
func (p *Pipeline) attempt(ctx context.Context, m pipeline.Message, nth int, tries *ledger.Attempts, do func(*task, context.Context) error) (*task, error) {
	hub, err := p.Connect(m.Pull)
	if err != nil {
		return nil, err
	}
	t := p.task(m, hub, tries)
	t.attempt = nth
	came := do(t, ctx)
	if err := p.spend(ctx, m, hub.Budget()); err != nil {
		p.log(err) // the work is done, and the next message counts again
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

// letGoTimeout limits the time for releasing leases after an error. It is enough for two calls about a
// record, and much less than the time that a function has left when its work is cancelled.
const letGoTimeout = 5 * time.Second
