// Package dispatch takes each message to the chapter of the story that handles it, once,
// whichever way and however often it comes: see package pipeline for the story.
//
// Start at [Pipeline.Handle].
package dispatch

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/lockstep-iac/lockstep/functions/comment"
	"github.com/lockstep-iac/lockstep/functions/pipeline"
	"github.com/lockstep-iac/lockstep/functions/pipeline/intake"
	"github.com/lockstep-iac/lockstep/functions/pipeline/jobs"
	"github.com/lockstep-iac/lockstep/functions/pipeline/runs"
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
	// Log is told of what is turned away; may be nil.
	Log func(error)
	// Scratch is the directory for checkouts, which are removed after use; "" is the
	// system's.
	Scratch string
	// Secrets are taken out of everything that is written on a pull request.
	Secrets []github.Secret
	// Where says where people find an artifact: an address, or a command that fetches
	// it. nil if they cannot.
	Where func(pipeline.Artifact) string
	// Poll is how often a plan that is being made looks whether a newer one is wanted;
	// 0 is 5 s.
	Poll time.Duration
	// MaxCommands is how many comments with commands of one person on one pull request
	// are carried out in an hour; 0 is runs.MaxCommands.
	MaxCommands int
	// StopBefore is how long before the end of the process' time an apply stops beginning
	// changes; 0 is DefaultStopBefore.
	StopBefore time.Duration
}

// Intake takes webhooks into the pipeline's queue.
func (p *Pipeline) Intake() *intake.Intake {
	return &intake.Intake{Records: p.Records, Queue: p.Queue, Serves: p.Serves, Log: p.Log}
}

// Handle does what a message asks for, if its repository is served. An error says that handling it again may help.
func (p *Pipeline) Handle(ctx context.Context, m pipeline.Message) error {
	return p.once(ctx, m, "message/"+m.ID, (*task).handle)
}

// once does something about a message, unless a record says that it was done, or its
// repository is not served.
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
	t := &task{Pipeline: p, message: m, hub: hub}
	err = do(t, ctx)
	if errors.Is(err, errGone) {
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
		return fmt.Errorf("handle %s: %w", m.ID, errors.Join(err, t.letGo(ctx)))
	}
	return nil
}

// letGoTimeout is for two calls about a record: a fraction of what a function has left
// when its work is cancelled.
const letGoTimeout = 5 * time.Second

// A task is the handling of one message.
type task struct {
	*Pipeline
	message pipeline.Message
	hub     GitHub
	pull    github.PullRequest
	// permission is the actor's.
	permission github.Permission
	// named are branches other than the default one, and whether its settings name them.
	named map[string]bool
	// bases are commits of the base branch that were read, by SHA.
	bases map[string]base
	// asked is the last question about where a state is.
	asked *runs.PlaceQuestion
	// lease is the one that was taken, as it is kept; nil if none was.
	lease []byte
}

func (t *task) handle(ctx context.Context) error {
	switch t.message.Kind {
	case pipeline.Pushed:
		return t.pushed(ctx)
	case pipeline.Commanded:
		return t.commanded(ctx)
	case pipeline.Closed:
		return t.closed(ctx)
	case pipeline.Tell:
		if err := t.look(ctx); err != nil {
			return err
		}
		return t.tell(ctx)
	case pipeline.ToPlan:
		return t.plan(ctx)
	case pipeline.ToApply:
		return t.apply(ctx)
	}
	return fmt.Errorf("there is no kind of message %q", t.message.Kind)
}

// errGone says that there is no such pull request any more, or no right to it: then
// nobody can be told, and trying again does not help.
var errGone = errors.New("what this is about is gone")

// look reads the pull request, and what the actor may do, as they are now.
func (t *task) look(ctx context.Context) (err error) {
	t.pull, err = t.hub.PullRequest(ctx, t.message.Pull.Number)
	if errors.Is(err, github.ErrNotFound) {
		return fmt.Errorf("%w: %w", errGone, err)
	}
	if err != nil {
		return err
	}
	if t.message.Actor != "" {
		t.permission, err = t.hub.Permission(ctx, t.message.Actor)
	}
	return err
}

// request is what the gate is asked for one project.
func (t *task) request(ctx context.Context, verb comment.Verb, r runs.Run) (runs.Request, error) {
	q := runs.Request{Verb: verb, Entry: runs.ByComment, Actor: t.message.Actor, Permission: t.permission, At: t.message.At, Pull: t.pull, Run: r}
	switch {
	case q.Actor == "":
		q.Entry = runs.ByPush
	case t.message.Kind == pipeline.Closed || t.message.Ask == mergeAsk:
		q.Entry = runs.ByMerge
	}
	var err error
	if q.BaseNamed, err = t.baseNamed(ctx); err != nil || r.Project == "" {
		return q, err
	}
	if q.Last, err = t.inTheWay(ctx, r); err != nil || verb != comment.Apply {
		return q, err
	}
	q.Decided = t.message.Kind == pipeline.ToApply
	q.Shown, err = t.shownAt(ctx, r)
	return q, err
}

// refused is the reply that gives a decision's reasons.
func refused(c comment.Command, project string, d runs.Decision) comment.Refused {
	r := comment.Refused{Command: c, Project: project}
	for _, x := range d.Reasons {
		r.Reasons = append(r.Reasons, x.Reason)
	}
	return r
}

// send puts a message of ours on its queue. Its name is made of what names the thing to
// do, so that sending it again is nothing new.
func (t *task) send(ctx context.Context, m pipeline.Message, name ...any) error {
	m.ID = string(m.Kind)
	for _, x := range name {
		m.ID += fmt.Sprintf("-%v", x)
	}
	m.Pull = t.message.Pull
	return t.Queue.Send(ctx, m)
}

// checkout unpacks a commit into a directory of its own. done removes it. The error
// wraps github.ErrNotFound if there is no such commit.
func (t *task) checkout(ctx context.Context, sha string) (dir string, done func(), err error) {
	dir, err = os.MkdirTemp(t.Scratch, "lockstep-checkout-*")
	if err != nil {
		return "", nil, fmt.Errorf("check out %.7s: %w", sha, err)
	}
	done = func() { os.RemoveAll(dir) }
	if _, err := t.hub.Checkout(ctx, sha, dir); err != nil {
		done()
		return "", nil, err
	}
	return dir, done, nil
}

// clean takes our own secrets out of a text.
func (p *Pipeline) clean(text string) string {
	for _, s := range p.Secrets {
		text = s.Redact(text)
	}
	return text
}
