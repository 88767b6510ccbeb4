package dispatch

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/lockstep-iac/lockstep/functions/comment"
	"github.com/lockstep-iac/lockstep/functions/pipeline"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/applyrun"
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
		(*task).push,
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
	pipeline.Rerun: {
		(*task).rerun,
		func(*task, context.Context, comment.Broken) error { return nil }, // it has no pull request to be told on
	},
	pipeline.Closed: {
		(*task).close,
		(*task).abandonClosed,
	},
	pipeline.Landed: {
		(*task).landed,
		func(t *task, ctx context.Context, why comment.Broken) error {
			return t.abandonEvent(ctx, why, t.answerBroken(ctx, why))
		},
	},
	pipeline.Grouped: {
		func(t *task, ctx context.Context) error { return t.queuer.Group(ctx) },
		// The queue waits for the check: the dead letter is tried until GitHub takes it.
		func(t *task, ctx context.Context, _ comment.Broken) error { return t.queuer.Group(ctx) },
	},
	pipeline.SyncComments: {
		(*task).sync,
		// Comments are made from the records, so an abandoned sync is tried once more: the
		// dead letter waits until GitHub takes them.
		func(t *task, ctx context.Context, _ comment.Broken) error { return t.sync(ctx) },
	},
	pipeline.Told: {
		(*task).told,
		// It was tried thrice: whoever comes next would not find out that nobody has looked.
		func(t *task, ctx context.Context, _ comment.Broken) error { return t.lookAt(ctx, time.Now().UTC()) },
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
	pipeline.ToQueue: {
		func(t *task, ctx context.Context) error { return t.checker.InQueue(ctx) },
		func(t *task, ctx context.Context, why comment.Broken) error {
			return t.checker.AbandonInQueue(ctx, why)
		},
	},
	pipeline.ToRecover: {
		func(t *task, ctx context.Context) error { return t.recover.Recover(ctx) },
		(*task).abandonRecover,
	},
	pipeline.ToRelease: {
		func(t *task, ctx context.Context) error { return t.applier.Release(ctx) },
		// The lock stays, and the next apply or `lockstep unlock` says whose it is.
		func(*task, context.Context, comment.Broken) error { return nil },
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

// push handles a new head, or another base branch. An apply of a former head that waits is over.
func (t *task) push(ctx context.Context) error {
	if x := t.message.Push; x != nil {
		if err := t.ledger.Pushed(ctx, t.message.Pull, *x); err != nil {
			return err
		}
	}
	err := t.plans.Push(ctx)
	if err == nil {
		err = t.closer.Retargeted(ctx)
	}
	return t.then(ctx, err)
}

// close handles the end of a pull request. Applies on merge wait for each other.
func (t *task) close(ctx context.Context) error {
	return t.then(ctx, t.closer.Close(ctx))
}

// landed handles a merge before whose plans nobody has looked at its head: what it removes is known only now.
func (t *task) landed(ctx context.Context) error {
	err := t.plans.PlanMerged(ctx)
	if err == nil {
		err = applyrun.Lost(ctx, t.closer)
	}
	return t.then(ctx, err)
}

// then goes on with the applies that wait for those of other projects, after an event whose comments are written.
func (t *task) then(ctx context.Context, err error) error {
	if err != nil {
		return err
	}
	changed, err := t.waves.GoOn(ctx)
	if err != nil || !changed {
		return err
	}
	return t.report.Sync(ctx)
}

// sync tells of what others have finished, goes on with the applies that wait for those of other projects, one of which may be at its end, and with the plans
// that were made with the outputs of others, or that nobody has to ask for any more, writes the comments, tells GitHub of deployments and people elsewhere of
// outcomes, and merges what is applied.
func (t *task) sync(ctx context.Context) error {
	if err := t.facts.Look(ctx); err != nil {
		return err
	}
	if err := applyrun.Finished(ctx, t.closer); err != nil {
		return err
	}
	_, err := t.waves.GoOn(ctx)
	if err := errors.Join(err, t.plans.Permit(ctx), t.foreseer.GoOn(ctx), t.report.Sync(ctx), t.queuer.GoOn(ctx)); err != nil {
		return err
	}
	if err := t.tell(ctx); err != nil {
		return err
	}
	return t.merger.Merge(ctx)
}

// tell tells GitHub and people elsewhere of the outcomes since the last time.
func (t *task) tell(ctx context.Context) error {
	return errors.Join(t.recorder.Record(ctx), t.teller.Tell(ctx))
}
