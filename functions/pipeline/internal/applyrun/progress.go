package applyrun

import (
	"context"
	"time"

	"github.com/lockstep-iac/lockstep/functions/comment"
	"github.com/lockstep-iac/lockstep/functions/pipeline"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/estimates"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/ratelimits"
)

// updateTimeout limits the time for asking for an update. The apply waits meanwhile.
const updateTimeout = 5 * time.Second

// progress records how much of the apply is done. An apply that makes progress is not given up, even if its
// processes die. The error is a [pipeline.ErrConflict] if another process has the apply.
func (c *application) progress(ctx context.Context, o comment.Ongoing) (err error) {
	more := o.Done > c.far.Done
	c.far = o.Progress
	if c.begun.Version == "" {
		return nil
	}
	if more {
		c.ap.Tries.Restart(ctx)
	}
	late := time.Since(c.begun.Begun) >= ratelimits.FirstUpdate
	if more || late && !o.Same(c.recorded) {
		if c.begun, err = c.ap.Ledger.RecordProgress(ctx, c.run.Run, c.begun, o); err != nil {
			return err
		}
		c.recorded = o
	}
	if late {
		c.update(ctx, time.Now())
	}
	return nil
}

// update sends a message to write the progress of the pull request's applies, if that is due. Another process
// writes it, so the apply never waits for GitHub. A failure does not matter: the next report of progress tries
// again, and the result is written in any case.
func (c *application) update(ctx context.Context, now time.Time) {
	if now.Before(c.due) {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, updateTimeout)
	defer cancel()
	pull := c.ap.Facts.Message.Pull
	extent, next, err := c.ap.Ledger.AskUpdate(ctx, pull, c.begun.Begun, now)
	if c.due = next; err != nil {
		c.due = now.Add(time.Minute)
		return
	}
	if extent != "" {
		m := pipeline.Message{Kind: pipeline.SyncComments, Progress: string(extent), Target: c.run.Target()}
		_ = pipeline.Send(ctx, c.ap.Queue, pull, m, c.run.MessageName(), c.run.Asked.Try, "progress", now.Unix())
	}
}

// typical returns the typical durations of changes of the state; nil if they are not known. Only an estimate depends
// on them, so an error does not matter.
func (c *application) typical(ctx context.Context) estimates.Typical {
	ctx, cancel := context.WithTimeout(ctx, updateTimeout)
	defer cancel()
	t, err := c.ap.Ledger.Typical(ctx, c.run.Run)
	if err != nil || len(t) == 0 {
		return nil
	}
	return t
}

// recordDurations records how long the changes of this process took, for later estimates. An error does not matter.
func (c *application) recordDurations(ctx context.Context, took estimates.Durations) {
	if len(took) == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), updateTimeout)
	defer cancel()
	_ = c.ap.Ledger.RecordDurations(ctx, c.run.Run, took)
}
