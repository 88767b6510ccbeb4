package dispatch

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/lockstep-iac/lockstep/functions/comment"
	"github.com/lockstep-iac/lockstep/functions/pipeline"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/applyrun"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/ratelimits"
	"github.com/lockstep-iac/lockstep/github"
)

// A trigger has the functions for one kind of message.
type trigger struct {
	// handle does the work of a message. If it returns an error, another attempt may help.
	handle func(*task, context.Context) error
	// abandon records that the work of a message will never be done, and tells people.
	abandon func(*task, context.Context, comment.Broken) error
}

// triggers has a row for each kind of message. Package pipeline lists the kinds with their queues.
var triggers = map[pipeline.Kind]trigger{
	pipeline.Pushed: {
		(*task).push,
		func(t *task, ctx context.Context, why comment.Broken) error {
			return t.abandonEvent(ctx, why, t.report.GivenUp)
		},
	},
	pipeline.Commanded: {
		func(t *task, ctx context.Context) error { return t.commands.commanded(ctx) },
		func(t *task, ctx context.Context, why comment.Broken) error {
			return t.abandonEvent(ctx, why, t.answerBroken)
		},
	},
	pipeline.Rerun: {
		(*task).rerun,
		// There is no pull request on which the failure could be reported.
		func(*task, context.Context, comment.Broken) error { return nil },
	},
	pipeline.Closed: {
		(*task).close,
		(*task).abandonClosed,
	},
	pipeline.Landed: {
		(*task).landed,
		func(t *task, ctx context.Context, why comment.Broken) error {
			return t.abandonEvent(ctx, why, t.answerBroken)
		},
	},
	pipeline.Grouped: {
		func(t *task, ctx context.Context) error { return t.queuer.Group(ctx) },
		// The merge queue waits for the check, so the message stays in the dead-letter queue until GitHub
		// accepts the check.
		func(t *task, ctx context.Context, _ comment.Broken) error { return t.queuer.Group(ctx) },
	},
	pipeline.SyncComments: {
		(*task).sync,
		// Comments are made from the records, so even a message that was given up is handled once more.
		// The message stays in the dead-letter queue until GitHub accepts the comments.
		func(t *task, ctx context.Context, _ comment.Broken) error { return t.sync(ctx) },
	},
	pipeline.Told: {
		(*task).lookSoon,
		// Three attempts have failed. One more message is sent here, because the next message assumes that the
		// pull request was read.
		func(t *task, ctx context.Context, _ comment.Broken) error { return t.lookAt(ctx, time.Now().UTC()) },
	},
	pipeline.ToPlan: {
		func(t *task, ctx context.Context) error { return t.planner.Plan(ctx) },
		(*task).abandonPlan,
	},
	pipeline.ToTest: {
		func(t *task, ctx context.Context) error { return t.tester.Test(ctx) },
		func(t *task, ctx context.Context, why comment.Broken) error { return t.tester.Abandon(ctx, why) },
	},
	pipeline.ToQuery: {
		func(t *task, ctx context.Context) error { return t.querier.Query(ctx) },
		func(t *task, ctx context.Context, why comment.Broken) error { return t.querier.Tell(ctx, why) },
	},
	pipeline.Settled: {
		func(t *task, ctx context.Context) error { return t.open.Find(ctx, t.message) },
		// Nobody waits for the result, and the janitor will try once more.
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
	// The next round or turn makes up for a look that is given up.
	pipeline.FindDrift: {
		func(t *task, ctx context.Context) error { return t.drift.Find(ctx) },
		func(*task, context.Context, comment.Broken) error { return nil },
	},
	pipeline.ToDrift: {
		func(t *task, ctx context.Context) error { return t.drift.Look(ctx) },
		func(t *task, ctx context.Context, why comment.Broken) error { return t.drift.Answer(ctx, why) },
	},
	pipeline.ToShadow: {
		func(t *task, ctx context.Context) error { return t.shadows.Plan(ctx) },
		func(t *task, ctx context.Context, why comment.Broken) error { return t.shadows.Abandon(ctx, why) },
	},
	pipeline.ToRecover: {
		func(t *task, ctx context.Context) error { return t.recover.Recover(ctx) },
		(*task).abandonRecover,
	},
	pipeline.ToRelease: {
		func(t *task, ctx context.Context) error { return t.applier.Release(ctx) },
		// The lock is kept. The next apply, or `lockstep unlock`, reports who has it.
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

// push handles a new head commit or a new base branch. It ends an apply that waits for an earlier head.
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
	return t.thenWaiting(ctx, err)
}

// close handles a pull request that was merged or closed. Applies that the merge requests are made in the order
// of their dependencies.
func (t *task) close(ctx context.Context) error {
	return t.thenWaiting(ctx, t.closer.Close(ctx))
}

// landed handles a merge whose head was never planned. Only now does Lockstep learn which projects the merge
// removed.
func (t *task) landed(ctx context.Context) error {
	err := t.plans.PlanMerged(ctx)
	if err == nil {
		err = applyrun.CheckRemoved(ctx, t.closer)
	}
	return t.thenWaiting(ctx, err)
}

// thenWaiting continues applies that wait for other projects, after the comments about an event are written.
// err is the error of the event.
func (t *task) thenWaiting(ctx context.Context, err error) error {
	if err != nil {
		return err
	}
	changed, err := t.waves.Continue(ctx)
	if err != nil || !changed {
		return err
	}
	return t.report.Sync(ctx)
}

// sync handles everything that other messages have finished:
//   - It continues applies that wait for other projects.
//   - It continues plans that were made with planned outputs of other projects, and plans that no longer need a
//     command.
//   - It writes the comments, and reports deployments to GitHub and results to people elsewhere.
//   - It merges a pull request that is applied, if the settings say so.
func (t *task) sync(ctx context.Context) error {
	if t.message.Progress != "" {
		return t.syncProgress(ctx)
	}
	if err := t.facts.Look(ctx); err != nil {
		return err
	}
	if err := applyrun.ReportFinished(ctx, t.closer); err != nil {
		return err
	}
	_, err := t.waves.Continue(ctx)
	if err := errors.Join(err, t.plans.PlanPermitted(ctx), t.foreseer.GoOn(ctx), t.report.Sync(ctx), t.queuer.replanForMerge(ctx)); err != nil {
		return err
	}
	if err := t.tell(ctx); err != nil {
		return err
	}
	return t.merger.Merge(ctx)
}

// progressTimeout limits the time for writing the progress of applies. Other messages about the pull request wait
// meanwhile, such as one about a result.
const progressTimeout = 20 * time.Second

// syncProgress writes the progress of applies. It does not repeat a write that failed: the next update and the
// result write the same comments. If GitHub refuses further writes until a certain time, there are no updates
// before that time.
func (t *task) syncProgress(ctx context.Context) error {
	within, cancel := context.WithTimeout(ctx, progressTimeout)
	defer cancel()
	failed, err := t.report.SyncProgress(within, ratelimits.Extent(t.message.Progress), t.message.Run())
	if failed != nil {
		t.log(fmt.Errorf("write the progress of an apply of %s#%d: %w", t.message.Pull.Repo, t.message.Pull.Number, failed))
	}
	var limited *github.RateLimitedError
	if errors.As(failed, &limited) {
		if paused := t.ledger.PauseUpdates(ctx, t.message.Pull, limited.Until); paused != nil {
			t.log(paused)
		}
	}
	return err
}

// tell reports the results that it has not reported yet: as deployments on GitHub, and as notifications
// to people elsewhere.
func (t *task) tell(ctx context.Context) error {
	return errors.Join(t.recorder.Record(ctx), t.teller.Tell(ctx))
}
