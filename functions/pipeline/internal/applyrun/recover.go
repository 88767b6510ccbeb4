package applyrun

import (
	"context"
	"fmt"
	"slices"

	"github.com/lockstep-iac/lockstep/functions/comment"
	"github.com/lockstep-iac/lockstep/functions/comment/reasons"
	"github.com/lockstep-iac/lockstep/functions/pipeline"
	"github.com/lockstep-iac/lockstep/functions/pipeline/audit"
	"github.com/lockstep-iac/lockstep/functions/pipeline/gatefacts"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/admission"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/ledger"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/report"
	"github.com/lockstep-iac/lockstep/functions/pipeline/jobs"
	"github.com/lockstep-iac/lockstep/functions/pipeline/runs"
)

// A Recoverer recovers states after applies that did not finish. It uses the queue of applies, because a
// recovery writes the state.
type Recoverer struct {
	Facts  *gatefacts.Reader
	Report *report.Reporter
	Ledger ledger.Ledger
	Queue  pipeline.Queue
	Engine jobs.Engine
	Audit  audit.Trail
}

// recoverReply returns a reply as it is stored in the answer: with an ID for the recovery of this run's state.
func recoverReply(r runs.Run, reply comment.Reply) ledger.Reply {
	return report.NewReply("recover "+r.Target(), reply)
}

// Enqueue queues the recovery of the states of all projects that a command selects. It returns replies for
// those that are refused.
func (re *Recoverer) Enqueue(ctx context.Context, c comment.Command) ([]comment.Reply, error) {
	all, err := re.Ledger.Runs(ctx, re.Facts.Message.Pull)
	if err != nil {
		return nil, err
	}
	known := slices.Clone(all)
	all = slices.DeleteFunc(all, func(s ledger.Versioned) bool { return !s.SelectedBy(c) })
	if len(all) == 0 {
		_, d, err := re.Facts.Ask(ctx, re.Facts.Request(comment.Recover, runs.Run{}), nil)
		if err != nil {
			no, err := gatefacts.FinalReply(c, "", err)
			return []comment.Reply{no}, err
		}
		if d.Allowed() {
			d = admission.Refusal(gatefacts.WhyNoneSelected(c, known, reasons.NothingToRecover{}))
		}
		return []comment.Reply{gatefacts.Refused(c, "", d)}, nil
	}
	var replies []comment.Reply
	m := re.Facts.Message
	answer := report.AnswerTo(m)
	for _, s := range all {
		_, no, err := re.reach(c).allowed(ctx, s.Run)
		if err != nil {
			return nil, err
		}
		if no != nil {
			replies = append(replies, no)
			continue
		}
		// The message is sent before the reply is stored. Without a message, a reply that announces a recovery
		// would never be replaced.
		next := pipeline.Message{Kind: pipeline.ToRecover, Target: s.Target(), Actor: m.Actor, At: m.At, Answer: answer}
		if err := pipeline.Send(ctx, re.Queue, m.Pull, next, s.MessageName(), answer); err != nil {
			return nil, err
		}
		if err := re.Report.Reply(ctx, answer, recoverReply(s.Run, comment.Pending{Project: runs.Label(s.Run), Verb: comment.Recover})); err != nil {
			return nil, err
		}
	}
	return replies, nil
}

// Recover recovers the state of one project. It handles a message, and can be repeated.
func (re *Recoverer) Recover(ctx context.Context) error {
	s, err := re.Ledger.Read(ctx, re.Facts.Message.Run())
	if err != nil || s.Version == "" {
		return err
	}
	if err := re.Facts.Look(ctx); err != nil {
		return err
	}
	reply, err := re.recover(ctx, s.Run)
	if err != nil {
		return fmt.Errorf("recover %s: %w", s.Project, err)
	}
	return re.Tell(ctx, s.Run, reply)
}

// Tell answers the command with the result for one run.
func (re *Recoverer) Tell(ctx context.Context, r runs.Run, reply comment.Reply) error {
	if err := re.Report.Reply(ctx, re.Facts.Message.Answer, recoverReply(r, reply)); err != nil {
		return err
	}
	return pipeline.Send(ctx, re.Queue, re.Facts.Message.Pull, pipeline.Message{Kind: pipeline.SyncComments}, re.Facts.Message.ID)
}

func (re *Recoverer) recover(ctx context.Context, r runs.Run) (comment.Reply, error) {
	return re.reach(comment.Command{Verb: comment.Recover}).do(ctx, r, func(j jobs.Job) (comment.Reply, error) {
		done, err := re.Engine.Recover(ctx, j)
		done.Project = runs.Label(r)
		return done, err
	})
}

func (re *Recoverer) reach(c comment.Command) stateAccess {
	return stateAccess{re.Facts, re.Report, re.Audit, c}
}
