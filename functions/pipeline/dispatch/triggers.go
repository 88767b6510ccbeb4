package dispatch

import (
	"context"
	"fmt"

	"github.com/lockstep-iac/lockstep/functions/comment"
	"github.com/lockstep-iac/lockstep/functions/pipeline"
)

// A trigger handles one kind of message.
type trigger struct {
	// handle does the work. After an error another attempt may help.
	handle func(*task, context.Context) error
	// abandon reports that the work will never be done.
	abandon func(*task, context.Context, comment.Broken) error
}

// triggers has a row for each kind of message; package pipeline has the kinds, with their
// queues.
var triggers = map[pipeline.Kind]trigger{
	pipeline.Pushed: {
		func(t *task, ctx context.Context) error { return t.plans.Push(ctx) },
		func(t *task, ctx context.Context, why comment.Broken) error {
			return t.abandonEvent(ctx, why, t.report.GivenUp(ctx, why))
		},
	},
	pipeline.Commanded: {
		func(t *task, ctx context.Context) error { return t.commands.commanded(ctx) },
		func(t *task, ctx context.Context, why comment.Broken) error {
			return t.abandonEvent(ctx, why, t.answerBroken(ctx, why))
		},
	},
	pipeline.Closed: {
		func(t *task, ctx context.Context) error { return t.closer.Close(ctx) },
		(*task).abandonClosed,
	},
	pipeline.SyncComments: {
		(*task).sync,
		// Comments are made from the records, so an abandoned sync is tried once more: the
		// dead letter waits until GitHub takes them.
		func(t *task, ctx context.Context, _ comment.Broken) error { return t.sync(ctx) },
	},
	pipeline.ToPlan: {
		func(t *task, ctx context.Context) error { return t.planner.Plan(ctx) },
		(*task).abandonPlan,
	},
	pipeline.Settled: {
		func(t *task, ctx context.Context) error { return t.open.Find(ctx, t.message) },
		// Nobody waits for it, and the janitor comes back to it.
		func(*task, context.Context, comment.Broken) error { return nil },
	},
	pipeline.ToCheck: {
		func(t *task, ctx context.Context) error { return t.checker.Check(ctx) },
		func(t *task, ctx context.Context, why comment.Broken) error { return t.checker.Abandon(ctx, why) },
	},
	pipeline.ToRecover: {
		func(t *task, ctx context.Context) error { return t.recover.Recover(ctx) },
		(*task).abandonRecover,
	},
	pipeline.ToApply: {
		func(t *task, ctx context.Context) error { return t.applier.Apply(ctx) },
		(*task).abandonApply,
	},
}

func (t *task) handle(ctx context.Context) error {
	by, ok := triggers[t.message.Kind]
	if !ok {
		return fmt.Errorf("there is no kind of message %q", t.message.Kind)
	}
	return by.handle(t, ctx)
}

func (t *task) sync(ctx context.Context) error {
	if err := t.evidence.Look(ctx); err != nil {
		return err
	}
	if err := t.report.Sync(ctx); err != nil {
		return err
	}
	return t.merger.Merge(ctx)
}
