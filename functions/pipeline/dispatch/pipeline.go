// Package dispatch takes each message to the chapter of the story that handles it, once,
// whichever way and however often it comes: see package pipeline for the story.
//
//	triggers.go   the table of kinds of messages, and who handles and who abandons each
//	commands.go   the commands of comments, each to its chapter
//	task.go       the chapters, made for one message
//
// It refuses to know the work of a chapter. Start at [Pipeline.Handle].
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

// A Pipeline carries pull requests down the road. Its fields are its needs; it keeps
// nothing itself, so any number of them may work on the same records.
type Pipeline struct {
	// Connect opens the repository of a pull request, with the rights of the
	// installation that the pull request names.
	Connect func(pipeline.Pull) (GitHub, error)
	// Inventory lists the repositories that the App sees; nil: one that was transferred is not looked for.
	Inventory Inventory
	Records   pipeline.Records
	Artifacts pipeline.Artifacts
	Queue     pipeline.Queue
	Engine    jobs.Engine
	// Hook calls the hooks of base branches; nil: nobody can.
	Hook jobs.StepFunc
	// Notify delivers the notifications of base branches; nil: nobody is told.
	Notify jobs.NotifyFunc
	// Projects reads checkouts; nil does it in this process.
	Projects jobs.Projects
	// Rehearse tries the policies that pull requests change; nil: nobody tries them before they count.
	Rehearse jobs.TryPoliciesFunc
	// States are the patterns of places that every repository may have for states of its
	// own; nil gives none away.
	States places.Own
	// Serves are the owners and repositories that are served; all others are turned away.
	Serves intake.Serves
	// Deployment is the name of this one, "" for none: it serves the projects whose environments name it.
	Deployment string
	// Log gets an error for each message that is turned away; may be nil.
	Log func(error)
	// Scratch is the directory for checkouts, which are removed after use; "" is the
	// system's.
	Scratch string
	// Secrets are taken out of everything that is written on a pull request.
	Secrets []github.Secret
	// Where names the location of an artifact for people: an address, or a command that fetches it.
	// nil if they cannot read artifacts.
	Where func(pipeline.Artifact) string
	// Poll is the interval at which plans and applies look for orders to stop, and plans for newer
	// ones; 0 is 5 s.
	Poll time.Duration
	// MaxCommands is the maximum of comments with commands by one person on one pull request in an
	// hour; 0 is ratelimits.MaxCommands.
	MaxCommands int
	// MaxStrangers is the maximum of comments with commands on one pull request in an hour, by all who may not write
	// together, that are answered; 0 is ratelimits.MaxStrangers.
	MaxStrangers int
	// Share is the number of plans of one repository that are on the queue at a time, which should be the number of plans that are made at
	// a time: no more would be made sooner, and others would wait longer. 0 is no limit, for a queue where repositories take turns.
	Share int
	// LookEvery is the least time between two looks at a pull request because of what GitHub tells of checks and the like; 0 is ratelimits.LookEvery.
	LookEvery time.Duration
	// Loud is the maximum of plans of one push or command that are told of one by one; 0 is
	// planrun.DefaultLoud.
	Loud int
	// Runners are the runners that environments may name here.
	Runners []string
	// Builds are for the applies of environments whose runner is a build; nil: they are done here.
	Builds buildrunner.Service
	// Build is the ID of the build that this process is, for the one message that it was handed; "" for others.
	Build string
	// Bases are the commits of base branches that this process has read; nil: each message reads its own.
	Bases *gatefacts.Bases
	// StopBefore is the time before the end of the process at which an apply begins no more
	// changes; 0 is DefaultStopBefore.
	StopBefore time.Duration
}

// Intake takes webhooks into the pipeline's queue.
func (p *Pipeline) Intake() *intake.Intake {
	return &intake.Intake{Records: p.Records, Queue: p.Queue, Serves: p.Serves, Log: p.Log}
}

// line is the pipeline's queue, with a share for each repository.
func (p *Pipeline) line() *planQueue {
	return &planQueue{Queue: p.Queue, ledger: p.Ledger(), share: p.Share}
}

// Ledger is the pipeline's records.
func (p *Pipeline) Ledger() ledger.Ledger { return ledger.Ledger{Records: p.Records, Build: p.Build} }

// Handle carries out the task of a message, if its repository is served. After an error another
// attempt may help.
func (p *Pipeline) Handle(ctx context.Context, m pipeline.Message) error {
	if err := p.handle(ctx, m); err != nil {
		return err
	}
	if err := p.line().handled(ctx, m); err != nil {
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

// messageKey names the record that a message was handled.
func messageKey(m pipeline.Message) string { return "message/" + m.ID }

// once handles a message, unless a record shows that it was handled, or its repository is not
// served.
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
		m.ID = m.FirstID() // by which its answer may be begun, and plans are queued
	}
	// The queue counts the attempts at other messages.
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
		return p.keep(ctx, m) // not as handled: the janitor sends the same again, from where the repository is by then
	}
	if err == nil {
		err = tries.Finish(ctx)
		if errors.Is(err, pipeline.ErrConflict) {
			err = nil
		}
	}
	if errors.As(err, new(*pipeline.BusyError)) {
		tries.Waits(ctx)
		return fmt.Errorf("handle %s: %w", m.ID, err)
	}
	if errors.As(err, new(*pipeline.HandOver)) {
		// The lease stays: it shows that somebody has to go on.
		return fmt.Errorf("handle %s: %w", m.ID, err)
	}
	if err != nil {
		// Time may be over, which is why it failed.
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), letGoTimeout)
		defer cancel()
		return fmt.Errorf("handle %s: %w", m.ID, errors.Join(err, t.leases.LetGo(ctx)))
	}
	return nil
}

// letIn returns a message whose repository is served, and turns all others away. A repository can have left its name before it
// was looked at under it: then the message has the one that it has now.
func (p *Pipeline) letIn(ctx context.Context, m pipeline.Message) (_ pipeline.Message, ok bool, err error) {
	service, err := p.Intake().Served(ctx, m.Pull.Repo)
	if err != nil || service.Allowed() {
		return m, service.Allowed(), err
	}
	if service.Taken() {
		if m, ok, err = p.elsewhere(ctx, m); ok || err != nil {
			return m, ok, err
		}
	}
	p.turnAway(ctx, m, service)
	return m, false, nil
}

// attempt makes one attempt at a message, and another one where its repository is by now. There is no task if the repository cannot
// be opened.
func (p *Pipeline) attempt(ctx context.Context, m pipeline.Message, nth int, tries *ledger.Attempts, do func(*task, context.Context) error) (*task, error) {
	hub, err := p.Connect(m.Pull)
	if err != nil {
		return nil, err
	}
	t := p.task(m, hub, tries)
	t.attempt = nth
	came := do(t, ctx)
	if err := p.spend(ctx, m, hub.Budget()); err != nil {
		p.log(err) // the work is done, and the next one counts again
	}
	if !errors.Is(came, gatefacts.ErrGone) {
		return t, came
	}
	m, found, err := p.elsewhere(ctx, m)
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

// Exhausted is the reason to abandon a message that was tried as often as there is hope.
var Exhausted = fmt.Sprintf("it was tried %d times, and each time it failed or was broken off", pipeline.MaxReceives)

// letGoTimeout is enough for two calls about a record, and a fraction of the time that a function
// has left when its work is cancelled.
const letGoTimeout = 5 * time.Second
