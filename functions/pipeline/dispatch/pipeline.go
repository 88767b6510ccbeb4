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
	"time"

	"github.com/lockstep-iac/lockstep/functions/pipeline"
	"github.com/lockstep-iac/lockstep/functions/pipeline/evidence"
	"github.com/lockstep-iac/lockstep/functions/pipeline/intake"
	"github.com/lockstep-iac/lockstep/functions/pipeline/jobs"
	"github.com/lockstep-iac/lockstep/functions/pipeline/ledger"
	"github.com/lockstep-iac/lockstep/functions/places"
	"github.com/lockstep-iac/lockstep/github"
)

// A Pipeline carries pull requests down the road. Its fields are its needs; it keeps
// nothing itself, so any number of them may work on the same records.
type Pipeline struct {
	// Connect opens the repository of a pull request, with the rights of the
	// installation that the pull request names.
	Connect   func(pipeline.Pull) (GitHub, error)
	Records   pipeline.Records
	Artifacts pipeline.Artifacts
	Queue     pipeline.Queue
	Engine    jobs.Engine
	// Projects reads checkouts; nil does it in this process.
	Projects jobs.Projects
	// States are the patterns of places that every repository may have for states of its
	// own; nil gives none away.
	States places.Own
	// Serves are the owners and repositories that are served; all others are turned away.
	Serves intake.Serves
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
	// Poll is the interval at which a plan in the making looks for a newer one; 0 is 5 s.
	Poll time.Duration
	// MaxCommands is the maximum of comments with commands by one person on one pull request in an
	// hour; 0 is runs.MaxCommands.
	MaxCommands int
	// StopBefore is the time before the end of the process at which an apply begins no more
	// changes; 0 is DefaultStopBefore.
	StopBefore time.Duration
}

// Intake takes webhooks into the pipeline's queue.
func (p *Pipeline) Intake() *intake.Intake {
	return &intake.Intake{Records: p.Records, Queue: p.Queue, Serves: p.Serves, Log: p.Log}
}

// Ledger is the pipeline's records.
func (p *Pipeline) Ledger() ledger.Ledger { return ledger.Ledger{Records: p.Records} }

// Handle carries out the task of a message, if its repository is served. After an error another
// attempt may help.
func (p *Pipeline) Handle(ctx context.Context, m pipeline.Message) error {
	return p.once(ctx, m, "message/"+m.ID, (*task).handle)
}

// once handles a message, unless a record shows that it was handled, or its repository is not
// served.
func (p *Pipeline) once(ctx context.Context, m pipeline.Message, key string, do func(*task, context.Context) error) error {
	service, err := p.Intake().Served(ctx, m.Pull.Repo)
	if err != nil {
		return fmt.Errorf("handle %s: %w", m.ID, err)
	}
	if !service.Allowed() {
		p.turnAway(ctx, m, service)
		return nil
	}
	have, err := p.Records.Get(ctx, key)
	if err != nil {
		return fmt.Errorf("handle %s: %w", m.ID, err)
	}
	if have.Version != "" {
		return nil
	}
	hub, err := p.Connect(m.Pull)
	if err != nil {
		return fmt.Errorf("handle %s: %w", m.ID, err)
	}
	t := p.task(m, hub)
	err = do(t, ctx)
	if errors.Is(err, evidence.ErrGone) {
		err = nil
	}
	if err == nil {
		_, err = p.Records.Put(ctx, key, []byte("done"), "")
		if errors.Is(err, pipeline.ErrConflict) {
			err = nil
		}
	}
	if err != nil {
		// Time may be over, which is why it failed.
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), letGoTimeout)
		defer cancel()
		return fmt.Errorf("handle %s: %w", m.ID, errors.Join(err, t.leases.LetGo(ctx)))
	}
	return nil
}

// letGoTimeout is enough for two calls about a record, and a fraction of the time that a function
// has left when its work is cancelled.
const letGoTimeout = 5 * time.Second
