package run

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"

	"github.com/lockstep-iac/lockstep/functions/comment"
	"github.com/lockstep-iac/lockstep/github"
)

// A Pipeline carries pull requests down the road. Its fields are its needs; it keeps
// nothing itself, so any number of them may work on the same records.
type Pipeline struct {
	// Connect opens the repository of a pull request, with the rights of the
	// installation that the pull request names.
	Connect   func(Pull) (GitHub, error)
	Records   Records
	Artifacts Artifacts
	Queue     Queue
	Engine    Engine
	// Scratch is the directory for checkouts, which are removed after use; "" is the
	// system's.
	Scratch string
	// Secrets are taken out of everything that is written on a pull request.
	Secrets []github.Secret
}

// Handle does what a message asks for. An error says that handling it again may help.
func (p *Pipeline) Handle(ctx context.Context, m Message) error {
	key := "message/" + m.ID
	have, err := p.Records.Get(ctx, key)
	if err != nil {
		return fmt.Errorf("handle %s: %w", m.ID, err)
	}
	if have.Version != "" {
		return nil // done before
	}
	hub, err := p.Connect(m.Pull)
	if err != nil {
		return fmt.Errorf("handle %s: %w", m.ID, err)
	}
	t := &task{Pipeline: p, message: m, hub: hub}
	switch m.Kind {
	case Commanded:
		err = t.commanded(ctx)
	case Closed:
		err = t.closed(ctx)
	case Pushed:
		err = t.pushed(ctx)
	}
	if errors.Is(err, errGone) {
		err = nil
	}
	if err == nil {
		_, err = p.Records.Put(ctx, key, []byte("done"), "")
		if errors.Is(err, ErrConflict) {
			err = nil
		}
	}
	if err != nil {
		return fmt.Errorf("handle %s: %w", m.ID, err)
	}
	return nil
}

// A task is the handling of one message.
type task struct {
	*Pipeline
	message Message
	hub     GitHub
	pull    github.PullRequest
	// permission is the actor's.
	permission github.Permission
}

// errGone says that there is no such pull request or commit any more, or no right to
// it: then nobody can be told, and trying again does not help.
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
func (t *task) request(ctx context.Context, verb comment.Verb, r Run) (Request, error) {
	q := Request{Verb: verb, Actor: t.message.Actor, Permission: t.permission, Pull: t.pull, Run: r}
	if r.Project == "" {
		return q, nil
	}
	last, _, err := t.lastApply(ctx, r)
	q.Last = last
	return q, err
}

// refused is the reply that gives a decision's reasons.
func refused(c comment.Command, project string, d Decision) comment.Refused {
	r := comment.Refused{Command: c, Project: project}
	for _, x := range d.Reasons {
		r.Reasons = append(r.Reasons, x.Reason)
	}
	return r
}

// pushed plans a pull request because it has a new head.
func (t *task) pushed(ctx context.Context) error {
	if err := t.look(ctx); err != nil {
		return err
	}
	if !t.pull.Open {
		return nil // an old message
	}
	replies, err := t.plan(ctx, comment.Command{Verb: comment.Plan})
	if err != nil {
		return err
	}
	// A plan speaks for itself; what was refused is said once a pull request.
	var say []comment.Reply
	for _, r := range replies {
		if x, ok := r.(comment.Refused); ok {
			say = append(say, x)
		}
	}
	return t.answer(ctx, say)
}

// commanded carries out the commands of a comment.
func (t *task) commanded(ctx context.Context) error {
	if err := t.react(ctx, github.Eyes); err != nil {
		return err
	}
	if err := t.look(ctx); err != nil {
		return err
	}
	var replies []comment.Reply
	for _, line := range t.message.Lines {
		more, err := t.command(ctx, line)
		if err != nil {
			return err
		}
		replies = append(replies, more...)
	}
	if err := t.answer(ctx, replies); err != nil {
		return err
	}
	return t.react(ctx, verdict(replies))
}

// verdict sums replies up in one picture.
func verdict(replies []comment.Reply) github.Reaction {
	for _, r := range replies {
		switch r.(type) {
		case comment.Refused, comment.Misunderstood, comment.Failed:
			return github.Confused
		}
	}
	return github.Rocket
}

func (t *task) command(ctx context.Context, line comment.Line) ([]comment.Reply, error) {
	if line.Problem != "" {
		return []comment.Reply{comment.Misunderstood{Line: line}}, nil
	}
	switch c := line.Command; c.Verb {
	case comment.Plan:
		return t.plan(ctx, c)
	case comment.Apply:
		return t.apply(ctx, c)
	case comment.Unlock:
		return t.unlock(ctx, c)
	default:
		return t.guide(ctx)
	}
}

// guide answers a call for help.
func (t *task) guide(ctx context.Context) ([]comment.Reply, error) {
	runs, err := t.runs(ctx)
	if err != nil {
		return nil, err
	}
	var g comment.Guide
	for _, r := range runs {
		g.Projects = append(g.Projects, r.Project)
	}
	return []comment.Reply{g}, nil
}

// closed deletes what was saved for a pull request that is not open any more, and
// settles the states that it was applied to.
func (t *task) closed(ctx context.Context) error {
	if err := t.look(ctx); err != nil {
		return err
	}
	if t.pull.Open {
		return nil // opened again since
	}
	runs, err := t.runs(ctx)
	if err != nil {
		return err
	}
	for _, r := range runs {
		if err := t.settle(ctx, r); err != nil {
			return err
		}
		if !r.Phase.May(Dropped) {
			continue // being applied, by a message that came before and is handled again
		}
		for _, key := range []string{r.Plan, r.Report} {
			if key == "" {
				continue
			}
			if err := t.Artifacts.Delete(ctx, r.artifact(key)); err != nil {
				return err
			}
		}
		next := r.to(Dropped)
		next.Plan, next.Report = "", ""
		if _, err := t.save(ctx, next); err != nil && !errors.Is(err, ErrConflict) {
			return err
		}
	}
	return nil
}

// checkout unpacks a commit into a directory of its own. done removes it.
func (t *task) checkout(ctx context.Context, sha string) (dir string, done func(), err error) {
	dir, err = os.MkdirTemp(t.Scratch, "lockstep-checkout-*")
	if err != nil {
		return "", nil, fmt.Errorf("check out %.7s: %w", sha, err)
	}
	done = func() { os.RemoveAll(dir) }
	if _, err := t.hub.Checkout(ctx, sha, dir); err != nil {
		done()
		if errors.Is(err, github.ErrNotFound) {
			err = fmt.Errorf("%w: %w", errGone, err)
		}
		return "", nil, err
	}
	return dir, done, nil
}

// job is a run's project in a checkout.
func (t *task) job(r Run, dir string) Job {
	return Job{
		Checkout: dir, Dir: r.Dir, Project: r.Project, Workspace: r.Workspace,
		Repo: r.Pull.Repo, Number: r.Pull.Number, Head: r.Head,
		Owner: fmt.Sprintf("lockstep %s#%d", r.Pull.Repo, r.Pull.Number),
	}
}

// encode is for records: values of ours, which always can be.
func encode(v any) []byte {
	data, err := json.Marshal(v)
	if err != nil {
		panic(fmt.Sprintf("run: encode %T: %v", v, err))
	}
	return data
}
