package applyrun

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/lockstep-iac/lockstep/functions/comment"
	"github.com/lockstep-iac/lockstep/functions/pipeline"
	"github.com/lockstep-iac/lockstep/functions/pipeline/evidence"
	"github.com/lockstep-iac/lockstep/functions/pipeline/jobs"
	"github.com/lockstep-iac/lockstep/functions/pipeline/ledger"
	"github.com/lockstep-iac/lockstep/functions/pipeline/report"
	"github.com/lockstep-iac/lockstep/functions/pipeline/runs"
	"github.com/lockstep-iac/lockstep/github"
)

// A Recoverer recovers states from applies that did not come to their end. A recovery writes the
// state, so that it is queued as applies are, and done where they are done.
type Recoverer struct {
	Evidence *evidence.Reader
	Report   *report.Reporter
	Ledger   ledger.Ledger
	Queue    pipeline.Queue
	Engine   jobs.Engine
}

// recoverReply is the reply about the recovery of a run's state.
func recoverReply(r runs.Run, reply comment.Reply) ledger.Reply {
	return report.NewReply("recover "+r.Target(), reply)
}

// Enqueue queues the recovery of the states of all projects that a command selects. The replies are
// the refusals.
func (re *Recoverer) Enqueue(ctx context.Context, c comment.Command) ([]comment.Reply, error) {
	all, err := re.Ledger.Runs(ctx, re.Evidence.Message.Pull)
	if err != nil {
		return nil, err
	}
	all = slices.DeleteFunc(all, func(s ledger.Versioned) bool { return !c.Selects(s.Project, s.Dir, s.Workspace) })
	if len(all) == 0 {
		q, err := re.Evidence.Request(ctx, comment.Recover, runs.Run{})
		if err != nil {
			no, err := evidence.Unable(c, "", err)
			return []comment.Reply{no}, err
		}
		d := runs.Gate(q)
		if d.Allowed() {
			d = runs.Refusal(comment.NothingToRecover{})
		}
		return []comment.Reply{evidence.Refused(c, "", d)}, nil
	}
	var replies []comment.Reply
	m := re.Evidence.Message
	answer := report.AnswerTo(m)
	for _, s := range all {
		_, _, no, err := re.allowed(ctx, c, s.Run)
		if err != nil {
			return nil, err
		}
		if no != nil {
			replies = append(replies, no)
			continue
		}
		if err := re.Report.Reply(ctx, answer, recoverReply(s.Run, comment.Pending{Project: s.Project, Verb: comment.Recover})); err != nil {
			return nil, err
		}
		next := pipeline.Message{Kind: pipeline.ToRecover, Target: s.Target(), Actor: m.Actor, At: m.At, Answer: answer}
		if err := pipeline.Send(ctx, re.Queue, m.Pull, next, s.Plain(), answer); err != nil {
			return nil, err
		}
	}
	return replies, nil
}

// allowed asks the gate. A reply that is not nil is the refusal.
func (re *Recoverer) allowed(ctx context.Context, c comment.Command, r runs.Run) (q runs.Request, d runs.Decision, no comment.Reply, err error) {
	if q, err = re.Evidence.Request(ctx, comment.Recover, r); err != nil {
		no, err = evidence.Unable(c, r.Project, err)
		return q, d, no, err
	}
	if d = runs.Gate(q); !d.Allowed() {
		no = evidence.Refused(c, r.Project, d)
	}
	return q, d, no, nil
}

// Recover recovers the state of one project. It is the handling of a message, and can be repeated.
func (re *Recoverer) Recover(ctx context.Context) error {
	s, err := re.Ledger.Read(ctx, re.Evidence.Message.Run())
	if err != nil || s.Version == "" {
		return err
	}
	if err := re.Evidence.Look(ctx); err != nil {
		return err
	}
	reply, err := re.recover(ctx, s.Run)
	if err != nil {
		return fmt.Errorf("recover %s: %w", s.Project, err)
	}
	return re.Tell(ctx, s.Run, reply)
}

// Tell answers the command with the outcome for a run.
func (re *Recoverer) Tell(ctx context.Context, r runs.Run, reply comment.Reply) error {
	if err := re.Report.Reply(ctx, re.Evidence.Message.Answer, recoverReply(r, reply)); err != nil {
		return err
	}
	return pipeline.Send(ctx, re.Queue, re.Evidence.Message.Pull, pipeline.Message{Kind: pipeline.SyncComments}, re.Evidence.Message.ID)
}

func (re *Recoverer) recover(ctx context.Context, r runs.Run) (comment.Reply, error) {
	c := comment.Command{Verb: comment.Recover}
	q, _, no, err := re.allowed(ctx, c, r)
	if err != nil || no != nil {
		return no, err
	}
	dir, done, err := re.Evidence.Checkout(ctx, r.Merge)
	if errors.Is(err, github.ErrNotFound) {
		dir, done, err = re.Evidence.Checkout(ctx, r.Head)
	}
	if errors.Is(err, github.ErrNotFound) {
		return evidence.Refused(c, r.Project, runs.Refusal(comment.CommitGone{Problem: err.Error()})), nil
	}
	if err != nil {
		return evidence.Unable(c, r.Project, err)
	}
	defer done()
	job, problem, err := re.Evidence.Job(ctx, &q, dir)
	if err != nil {
		return evidence.Unable(c, r.Project, err)
	}
	if d := runs.Gate(q); !d.Allowed() {
		return evidence.Refused(c, r.Project, d), nil
	}
	if problem != "" {
		return evidence.Refused(c, r.Project, runs.Refusal(comment.Unusable{Problem: problem})), nil
	}
	done2, err := re.Engine.Recover(ctx, job)
	var state *jobs.StateError
	if errors.As(err, &state) {
		return evidence.Refused(c, r.Project, runs.Refusal(comment.StateUnreachable{Problem: re.Report.Clean(state.Why), Remedy: state.Remedy})), nil
	}
	return done2, err
}
