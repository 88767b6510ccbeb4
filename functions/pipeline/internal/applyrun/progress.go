package applyrun

import (
	"context"
	"time"

	"github.com/lockstep-iac/lockstep/functions/comment"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/estimates"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/ratelimits"
)

// durationsTimeout limits the time for reading and writing how long changes take. The apply waits meanwhile.
const durationsTimeout = 5 * time.Second

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
		c.updates.Ask(ctx, c.ap.Report, ratelimits.Work{Began: c.begun.Begun}, time.Now())
	}
	return nil
}

// typical returns the typical durations of changes of the state; nil if they are not known. Only an estimate depends
// on them, so an error does not matter.
func (c *application) typical(ctx context.Context) estimates.Typical {
	ctx, cancel := context.WithTimeout(ctx, durationsTimeout)
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
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), durationsTimeout)
	defer cancel()
	_ = c.ap.Ledger.RecordDurations(ctx, c.run.Run, took)
}
