package dispatch

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/lockstep-iac/lockstep/functions/comment"
	"github.com/lockstep-iac/lockstep/functions/pipeline"
	"github.com/lockstep-iac/lockstep/functions/pipeline/jobs"
	"github.com/lockstep-iac/lockstep/functions/pipeline/runs"
)

// Abandon gives a message up that was handled too often, or whose process is known to
// be dead: what it was about has failed, for a reason that people are told. It may be
// called again.
func (p *Pipeline) Abandon(ctx context.Context, m pipeline.Message, reason string) error {
	return p.once(ctx, m, "message/"+m.ID+".given-up", func(t *task, ctx context.Context) error {
		return t.abandon(ctx, p.clean(reason))
	})
}

func (t *task) abandon(ctx context.Context, reason string) error {
	reply := comment.Broken{Reason: reason}
	switch t.message.Kind {
	case pipeline.ToPlan:
		return errors.Join(t.abandonPlan(ctx, reply), t.release(ctx, t.message.Run()))
	case pipeline.ToApply:
		return errors.Join(t.abandonApply(ctx, reply), t.release(ctx, t.message.Run()))
	case pipeline.Tell:
		// It is what was to be told, and not that it was not: what is told is made from the
		// records, so this waits with the dead letter until GitHub takes it.
		return t.handle(ctx)
	case pipeline.Commanded, pipeline.Closed:
		if err := t.reply(ctx, askOf(t.message), part("given up", reply)); err != nil {
			return err
		}
	case pipeline.Pushed:
		if err := t.answer(ctx, pushAsk, reply); err != nil {
			return err
		}
	}
	if err := t.takeBack(ctx, reply); err != nil {
		return err
	}
	if t.message.Kind == pipeline.Closed && !t.pull.Open {
		// What was merged is not applied, but it must not be in the way of others either.
		if err := t.settleAll(ctx, false); err != nil {
			return err
		}
	}
	return t.send(ctx, pipeline.Message{Kind: pipeline.Tell}, strings.ReplaceAll(t.message.ID, "/", "-"), "given-up")
}

// takeBack ends what an event has asked for and has perhaps sent no message for: nobody
// would ever come back to it. A message that was sent finds it ended, and says so again.
func (t *task) takeBack(ctx context.Context, why comment.Broken) error {
	if err := t.look(ctx); err != nil {
		return err
	}
	all, err := t.runs(ctx, t.message.Pull)
	if err != nil {
		return err
	}
	for _, s := range all {
		if s.PlanFor == t.message.ID && (s.Phase == runs.Queued || s.Phase == runs.PlanFailed) {
			err = t.unplanned(ctx, s, why)
		}
		if s.ApplyFor == t.message.ID && s.Phase == runs.ApplyQueued {
			err = t.untouched(ctx, s, jobs.Outcome{Report: comment.Markdown(why)})
		} else if s.ApplyFor == t.message.ID {
			err = errors.Join(err, t.refusedApply(ctx, s))
		}
		if err != nil {
			return fmt.Errorf("take back what was asked for %s: %w", s.Project, err)
		}
	}
	return nil
}

// abandonPlan records that a plan failed.
func (t *task) abandonPlan(ctx context.Context, why comment.Broken) error {
	s, err := t.read(ctx, t.message.Run())
	if err != nil || s.version == "" || s.Attempt != t.message.Attempt {
		return err
	}
	return t.unplanned(ctx, s, why)
}

// unplanned records of a run that is to be planned that it is not, and says again what
// came of one that was.
func (t *task) unplanned(ctx context.Context, s stored, why comment.Broken) error {
	switch s.Phase {
	case runs.Queued, runs.Planning:
		return t.notPlanned(ctx, s, comment.Markdown(why))
	case runs.Planned, runs.PlanFailed:
		return t.planned(ctx, s.Run)
	}
	return nil
}

// abandonApply records that an apply failed, if it was begun, and otherwise that its
// plan was not applied.
func (t *task) abandonApply(ctx context.Context, why comment.Broken) error {
	s, err := t.read(ctx, t.message.Run())
	if err != nil || s.version == "" || s.Try != t.message.Attempt {
		return err
	}
	if err := t.look(ctx); err != nil {
		return err
	}
	switch s.Phase {
	case runs.ApplyQueued, runs.Applying:
		e, begun, err := t.effect(ctx, s.Run)
		if err != nil {
			return fmt.Errorf("give up the apply of %s: %w", s.Project, err)
		}
		if begun != "" {
			return t.finish(ctx, s, e)
		}
		return t.untouched(ctx, s, jobs.Outcome{Report: comment.Markdown(why)})
	case runs.Applied, runs.ApplyFailed:
		return t.applied(ctx, s.Run)
	}
	return t.refusedApply(ctx, s)
}
