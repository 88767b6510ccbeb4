package planrun

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/lockstep-iac/lockstep/functions/comment"
	"github.com/lockstep-iac/lockstep/functions/comment/markdown"
	"github.com/lockstep-iac/lockstep/functions/comment/reasons"
	"github.com/lockstep-iac/lockstep/functions/pipeline"
	"github.com/lockstep-iac/lockstep/functions/pipeline/gatefacts"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/admission"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/ledger"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/report"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/steps"
	"github.com/lockstep-iac/lockstep/functions/pipeline/jobs"
	"github.com/lockstep-iac/lockstep/functions/pipeline/runs"
	"github.com/lockstep-iac/lockstep/github"
)

// A Querier finds the objects that exist, by the list blocks of a project, and shows parts of its state. Both have the
// rights of a plan, and save nothing but their answer.
type Querier struct {
	Facts  *gatefacts.Reader
	Report *report.Reporter
	Ledger ledger.Ledger
	Queue  pipeline.Queue
	Engine jobs.Engine
	Steps  steps.Runner
	Hub    ProposalHub
}

// queryReply returns the reply to the command c for a target.
func queryReply(c comment.Command, target string, reply comment.Reply) ledger.Reply {
	words := append([]string{string(c.Verb), target}, c.Arguments...)
	return report.NewReply(strings.Join(words, " "), reply)
}

// asked returns the command that a message carries out, without its selection of projects.
func asked(m pipeline.Message) comment.Command {
	if m.Show != nil {
		return comment.Command{Verb: m.Show.Verb, Arguments: m.Show.Arguments}
	}
	return comment.Command{Verb: comment.Query}
}

// Enqueue queues a command for the planned project that it selects. The replies are the refusals.
func (qy *Querier) Enqueue(ctx context.Context, c comment.Command) ([]comment.Reply, error) {
	all, err := qy.Ledger.Runs(ctx, qy.Facts.Message.Pull)
	if err != nil {
		return nil, err
	}
	known := slices.Clone(all)
	all = slices.DeleteFunc(all, func(s ledger.Versioned) bool {
		return s.Phase == runs.Superseded || s.Spec.Removed || !s.SelectedBy(c)
	})
	r, none := runs.Run{}, c.Project
	if len(all) == 1 {
		r, none = all[0].Run, runs.Label(all[0].Run)
	}
	d, err := gatefacts.MayQuery(ctx, qy.Facts, c.Verb, r)
	if err != nil {
		no, err := gatefacts.FinalReply(c, none, err)
		return []comment.Reply{no}, err
	}
	switch {
	case !d.Allowed(): // a person who may not ask learns nothing about the runs
	case len(all) == 0:
		d = admission.Refusal(gatefacts.WhyNoneSelected(c, known, reasons.NothingToQuery{}))
	case len(all) > 1: // an answer has room for one
		several := reasons.SeveralProjects{Command: c}
		for _, s := range all {
			several.Projects = append(several.Projects, runs.Label(s.Run))
		}
		d = admission.Refusal(several)
	}
	if !d.Allowed() {
		return []comment.Reply{gatefacts.Refused(c, none, d)}, nil
	}
	m := qy.Facts.Message
	answer := report.AnswerTo(m)
	// The message is sent first. A reply that announces a query without a message would stay for ever.
	parts := []any{r.MessageName(), answer, c.Generate, c.PullRequest}
	next := pipeline.Message{Kind: pipeline.ToQuery, Target: r.Target(), Actor: m.Actor, At: m.At, Answer: answer, Generate: c.Generate, Propose: c.PullRequest}
	if c.Verb != comment.Query {
		next.Show = &comment.Command{Verb: c.Verb, Arguments: c.Arguments}
		parts = []any{r.MessageName(), answer, c.Verb, runs.HashOf([]byte(next.Show.String()))[:12]}
	}
	if err := pipeline.Send(ctx, qy.Queue, m.Pull, next, parts...); err != nil {
		return nil, err
	}
	return nil, qy.Report.Reply(ctx, answer, queryReply(asked(next), r.Target(), comment.Pending{Project: runs.Label(r), Verb: c.Verb}))
}

// Query queries one project. It handles a message, and can be repeated.
func (qy *Querier) Query(ctx context.Context) error {
	s, err := qy.Ledger.Read(ctx, qy.Facts.Message.Run())
	if err != nil || s.Version == "" {
		return err
	}
	if err := qy.Facts.Look(ctx); err != nil {
		return err
	}
	reply, err := qy.query(ctx, s.Run)
	if err != nil {
		c := asked(qy.Facts.Message)
		c.Project = s.Project
		if reply, err = gatefacts.FinalReply(c, runs.Label(s.Run), gatefacts.DiskFull(err)); err != nil {
			return err
		}
	}
	return qy.Tell(ctx, reply)
}

func (qy *Querier) query(ctx context.Context, r runs.Run) (comment.Reply, error) {
	c := asked(qy.Facts.Message)
	c.Project = r.Project
	d, err := gatefacts.MayQuery(ctx, qy.Facts, c.Verb, r)
	if err != nil {
		return nil, err
	}
	if !d.Allowed() {
		return gatefacts.Refused(c, runs.Label(r), d), nil
	}
	dir, done, err := qy.Facts.Checkout(ctx, r.Spec.Merge)
	if errors.Is(err, github.ErrNotFound) {
		return gatefacts.Refused(c, runs.Label(r), admission.Refusal(reasons.CommitGone{Problem: err.Error()})), nil
	}
	if err != nil {
		return nil, err
	}
	defer done()
	if no, err := qy.Steps.Generate(ctx, r, dir, c); err != nil {
		return nil, err
	} else if no != nil {
		return gatefacts.Refused(c, runs.Label(r), admission.Refusal(*no)), nil
	}
	failed := func(why string) comment.Reply {
		return comment.Failed{Project: runs.Label(r), Verb: c.Verb, Body: qy.Report.Clean(why)}
	}
	job, d, problem, err := gatefacts.QueryJob(ctx, qy.Facts, c.Verb, r, dir)
	switch {
	case err != nil:
		return nil, err
	case problem != "":
		return failed(markdown.Code(problem)), nil
	case !d.Allowed():
		return gatefacts.Refused(c, runs.Label(r), d), nil
	}
	if c.Verb != comment.Query {
		shown, failure, err := qy.Engine.Show(ctx, job, asked(qy.Facts.Message))
		if err != nil {
			return nil, fmt.Errorf("show the state of %s: %w", r.Project, err)
		}
		if failure != "" {
			return failed(failure), nil
		}
		shown.Project = runs.Label(r)
		return shown.Each(qy.Report.Clean), nil
	}
	room, in := 0, ""
	switch m := qy.Facts.Message; {
	case m.Propose:
		base, ok := "", false
		if base, ok, err = gatefacts.DirInBase(ctx, qy.Facts, r); err != nil {
			return nil, err
		}
		if !ok {
			return gatefacts.Refused(c, runs.Label(r), admission.Refusal(reasons.NotInBase{Base: qy.Facts.Pull.Base.Ref})), nil
		}
		room, in = comment.MaxImportFile, base
	case m.Generate:
		room = comment.MaxQueryConfig
	}
	found, failure, err := qy.Engine.Query(ctx, job, room)
	if err != nil {
		return nil, fmt.Errorf("query %s: %w", r.Project, err)
	}
	if failure != "" {
		return failed(failure), nil
	}
	found.Project = runs.Label(r)
	found = found.Each(qy.Report.Clean, room)
	if !qy.Facts.Message.Propose {
		return found, nil
	}
	return qy.propose(ctx, r, dir, in, found)
}

// Tell answers the command with the outcome.
func (qy *Querier) Tell(ctx context.Context, reply comment.Reply) error {
	m := qy.Facts.Message
	if err := qy.Report.Reply(ctx, m.Answer, queryReply(asked(m), m.Target, reply)); err != nil {
		return err
	}
	return pipeline.Send(ctx, qy.Queue, m.Pull, pipeline.Message{Kind: pipeline.SyncComments}, m.ID)
}
