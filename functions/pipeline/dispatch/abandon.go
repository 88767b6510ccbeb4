package dispatch

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/lockstep-iac/lockstep/functions/comment"
	"github.com/lockstep-iac/lockstep/functions/pipeline"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/report"
	"github.com/lockstep-iac/lockstep/functions/pipeline/jobs"
	"github.com/lockstep-iac/lockstep/functions/pipeline/runs"
)

// givenUp is the end of a record's key. The record says that a message was given up.
const givenUp = ".given-up"

// Abandon gives up a message that was tried too often, or whose process is known to be dead. It records that
// the work has failed, and tells people the reason. Abandon can be repeated.
func (p *Pipeline) Abandon(ctx context.Context, m pipeline.Message, reason string) error {
	err := p.once(ctx, m, messageKey(m)+givenUp, func(t *task, ctx context.Context) error {
		return t.abandon(ctx, t.report.Clean(reason))
	})
	if err != nil {
		return err
	}
	if err := p.planQueue().abandoned(ctx, m); err != nil {
		return fmt.Errorf("abandon %s: %w", m.ID, err)
	}
	return nil
}

func (t *task) abandon(ctx context.Context, reason string) error {
	l, err := t.ledger.LastLook(ctx, t.message.Pull)
	if err != nil {
		return err
	}
	t.report.Silent = l.Silent
	why := comment.Broken{Reason: reason}
	by, ok := triggers[t.message.Kind]
	if !ok {
		return t.abandonEvent(ctx, why, t.answerBroken) // from another version of Lockstep
	}
	return by.abandon(t, ctx, why)
}

// answerBroken tells the people who wait for the message's work that it has failed.
func (t *task) answerBroken(ctx context.Context, why comment.Reply) error {
	return t.report.Reply(ctx, report.AnswerTo(t.message), report.NewReply("given up", why))
}

// abandonEvent ends the runs that an event has queued. Before that, answer tells people.
func (t *task) abandonEvent(ctx context.Context, why comment.Broken, answer func(context.Context, comment.Reply) error) error {
	if err := t.facts.Look(ctx); err != nil {
		return err
	}
	if err := t.report.ListenFirst(ctx); err != nil {
		return err
	}
	if err := answer(ctx, why); err != nil {
		return err
	}
	if err := t.takeBack(ctx, why); err != nil {
		return err
	}
	return t.syncLater(ctx)
}

func (t *task) syncLater(ctx context.Context) error {
	return pipeline.Send(ctx, t.queue, t.message.Pull, pipeline.Message{Kind: pipeline.SyncComments}, strings.ReplaceAll(t.message.ID, "/", "-"), "given-up")
}

// withClosed returns the reply why, and sets its fields that say whether the pull request is closed or
// merged. The caller has already read the pull request.
func (t *task) withClosed(why comment.Broken) comment.Broken {
	why.Closed, why.Merged = !t.facts.Pull.Open, t.facts.Pull.Merged
	return why
}

// abandonClosed records the end of the runs of a closed pull request, without applying any. Plans that waited
// for the merge are not applied, and must not block other pull requests.
func (t *task) abandonClosed(ctx context.Context, why comment.Broken) error {
	if err := t.facts.Look(ctx); err != nil {
		return err
	}
	if err := t.report.ListenFirst(ctx); err != nil {
		return err
	}
	if err := t.answerBroken(ctx, t.withClosed(why)); err != nil {
		return err
	}
	if err := t.takeBack(ctx, why); err != nil {
		return err
	}
	if !t.facts.Pull.Open {
		if err := t.closer.SettleAll(ctx, false); err != nil {
			return err
		}
	}
	return t.syncLater(ctx)
}

// takeBack ends the runs that an event has queued. Their messages were perhaps not sent, and then nothing else
// would end the runs. If a message was sent, its handler finds that the run has ended, and reports that once
// more. The caller has read the pull request.
func (t *task) takeBack(ctx context.Context, why comment.Broken) error {
	all, err := t.ledger.Runs(ctx, t.message.Pull)
	if err != nil {
		return err
	}
	why = t.withClosed(why)
	for _, s := range all {
		if s.Asked.PlanFor == t.message.ID && (s.Phase == runs.Queued || s.Phase == runs.PlanFailed) {
			err = t.planner.Unplanned(ctx, s, why)
		}
		queued := s.Asked.ApplyFor == t.message.ID || s.Asked.Waits != nil && s.Asked.Waits.Woken == t.message.ID
		if s.Waiting() && s.Asked.Waits.For == t.message.ID {
			err = errors.Join(err, t.waves.GiveUp(ctx, s, why))
		} else if queued && s.Phase == runs.ApplyQueued {
			err = t.applier.Untouched(ctx, s, jobs.Outcome{Report: comment.Markdown(why)})
		} else if s.Asked.ApplyFor == t.message.ID {
			err = errors.Join(err, t.applier.RefusedApply(ctx, s))
		}
		if err != nil {
			return fmt.Errorf("take back what was asked for %s: %w", s.Project, err)
		}
	}
	return nil
}

// abandonPlan records that a plan failed, and releases the lease of the run. If it cannot record the failure,
// it keeps the lease: the message may then be gone, and the janitor finds the dead run only by its lease.
func (t *task) abandonPlan(ctx context.Context, why comment.Broken) error {
	if err := t.failPlan(ctx, why); err != nil {
		return err
	}
	return t.leases.Release(ctx, t.message.Run())
}

func (t *task) failPlan(ctx context.Context, why comment.Broken) error {
	s, err := t.ledger.Read(ctx, t.message.Run())
	if err != nil || s.Version == "" || s.Asked.Attempt != t.message.Attempt {
		return err
	}
	why.Closed, why.Merged = s.Spec.AfterMerge, s.Spec.AfterMerge
	return t.planner.Unplanned(ctx, s, why)
}

// abandonApply records the end of an apply that no process continues. It then releases the lease of the run. If
// abandonApply cannot record the end, it keeps the lease: see [task.abandonPlan].
func (t *task) abandonApply(ctx context.Context, why comment.Broken) error {
	if err := t.failApply(ctx, why); err != nil {
		return err
	}
	return t.leases.Release(ctx, t.message.Run())
}

// abandonRecover answers a recovery that failed too often.
func (t *task) abandonRecover(ctx context.Context, why comment.Broken) error {
	s, err := t.ledger.Read(ctx, t.message.Run())
	if err != nil || s.Version == "" {
		return err
	}
	return t.recover.Tell(ctx, s.Run, why)
}

// failApply records that the apply failed. If the apply was not begun, it records that the plan was not
// applied.
func (t *task) failApply(ctx context.Context, why comment.Broken) error {
	s, err := t.ledger.Read(ctx, t.message.Run())
	if err != nil || s.Version == "" || s.Asked.Try != t.message.Attempt {
		return err
	}
	if err := t.leases.Alone(ctx, s.Run); err != nil {
		return err // The queue has delivered the message too often, and too early: another process is still working on it.
	}
	if err := t.facts.Look(ctx); err != nil {
		return err
	}
	switch s.Phase {
	case runs.ApplyQueued, runs.Applying, runs.Continuing:
		e, begun, err := t.ledger.ApplyRecord(ctx, s.Run)
		if err != nil {
			return fmt.Errorf("abandon the apply of %s: %w", s.Project, err)
		}
		if begun != "" {
			return t.applier.Finish(ctx, s, e)
		}
		if err := t.applier.Untouched(ctx, s, jobs.Outcome{Report: comment.Markdown(t.withClosed(why))}); err != nil || s.Phase == runs.ApplyQueued {
			return err
		}
	case runs.Applied, runs.ApplyFailed:
		return t.applier.Applied(ctx, s.Run)
	default:
		if err := t.applier.RefusedApply(ctx, s); err != nil {
			return err
		}
	}
	// A process may have died after it locked the state, and before it recorded the apply. The lock then
	// remains. A message asks another process to release it, because this process may have no access to states.
	m := t.message
	return pipeline.Send(ctx, t.queue, m.Pull, pipeline.Message{Kind: pipeline.ToRelease, Target: m.Target, Attempt: m.Attempt, Actor: m.Actor, At: m.At, Answer: m.Answer}, s.MessageName(), m.Attempt)
}
