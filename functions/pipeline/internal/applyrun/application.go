package applyrun

import (
	"context"
	"errors"
	"fmt"

	"github.com/lockstep-iac/lockstep/functions/comment"
	"github.com/lockstep-iac/lockstep/functions/comment/markdown"
	"github.com/lockstep-iac/lockstep/functions/comment/notes"
	"github.com/lockstep-iac/lockstep/functions/pipeline"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/ledger"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/stopping"
	"github.com/lockstep-iac/lockstep/functions/pipeline/jobs"
	"github.com/lockstep-iac/lockstep/functions/pipeline/runs"
)

// A application is one process' part of an apply, in the hands of the engine.
type application struct {
	ap   *Applier
	run  ledger.Versioned
	plan []byte
	job  jobs.Job
	// permit decides, with the state locked, and returns the record of the apply.
	permit func(context.Context, jobs.BeforeApply) (ledger.Begun, jobs.Permit, error)

	far    comment.Progress // as far as it is known
	begun  ledger.Begun     // without version while nothing was allowed
	failed error            // of permit
	stop   *ledger.Stop     // the command that ended it; nil for none
}

// carry has the engine carry the plan out until its end, until the time is over, or until somebody
// stops it.
func (c *application) carry(ctx context.Context) (jobs.Outcome, error) {
	c.job.Planned = c.run.Plan.State
	c.job.Run = fmt.Sprintf("%s/%d", c.run.Key(), c.run.Asked.Try)
	if end, ok := ctx.Deadline(); ok {
		before := c.ap.StopBefore
		if before == 0 {
			before = pipeline.DefaultStopBefore
		}
		c.job.Times = jobs.TimesBefore(end, pipeline.HardStop(ctx), before)
	}
	ctx, deposed := context.WithCancelCause(ctx)
	defer deposed(nil)
	c.job.Progress = func(p comment.Progress) {
		if err := c.goesOn(context.WithoutCancel(ctx), p); errors.Is(err, pipeline.ErrConflict) {
			deposed(err) // another process has the apply
		}
	}
	c.job.Ended = func(o jobs.Outcome) error { return c.ended(context.WithoutCancel(ctx), o) }
	work, end := stopping.Watch(ctx, c.ap.Ledger, c.run.Run, c.ap.Poll)
	defer end()
	outcome, err := c.ap.Engine.Apply(work, c.job, c.plan, func(now jobs.BeforeApply) (answer jobs.Permit) {
		if c.begun, answer, c.failed = c.permit(ctx, now); c.failed != nil {
			return jobs.Refused
		}
		return answer
	})
	c.stop = end()
	if err == nil {
		outcome, err = c.whole(ctx, outcome)
	}
	return outcome, err
}

// goesOn records how far the apply is: as long as it gets on, the deaths of its processes are no
// reason to give it up.
func (c *application) goesOn(ctx context.Context, p comment.Progress) (err error) {
	if p.Done > c.far.Done && c.begun.Version != "" {
		c.ap.Tries.GoesOn(ctx)
		c.begun, err = c.ap.Ledger.Far(ctx, c.run.Run, c.begun, p)
	}
	c.far = p
	return err
}

// ended records the outcome while the journal is still there: this process may die before it has recorded the end.
func (c *application) ended(ctx context.Context, o jobs.Outcome) (err error) {
	if o, err = c.whole(ctx, o); err != nil {
		return err
	}
	o = c.ap.keep(ctx, c.run, o)
	c.begun.Ended = &o
	c.begun, err = c.ap.Ledger.EndApply(ctx, c.run.Run, c.begun)
	return err
}

// whole stores all of an outcome whose report is shortened, and has the report say where that is.
func (c *application) whole(ctx context.Context, o jobs.Outcome) (jobs.Outcome, error) {
	if o.Report = c.ap.Report.Clean(o.Report); o.Full == "" {
		return o, nil
	}
	if err := c.ap.Artifacts.Put(context.WithoutCancel(ctx), c.run.FullResult(), []byte(c.ap.Report.Clean(o.Full))); err != nil {
		return o, err
	}
	if where := c.ap.Report.Where; where != nil {
		o.Report += "\n\n" + markdown.Whole(where(c.run.FullResult())) + "\n"
	}
	o.Full = ""
	return o, nil
}

// end records the end of this process' part of an apply that was begun.
func (c *application) end(ctx context.Context, o jobs.Outcome, err error) error {
	ap := c.ap
	if err != nil {
		// Where the process was ended because its time was over, the journal has the rest.
		o.Failed, o.Resumable, o.Report = true, ctx.Err() != nil || c.stop != nil, markdown.Code(ap.Report.Clean(err.Error()))
	}
	if o.Progress.Of == 0 {
		o.Progress = c.far
	}
	ctx = context.WithoutCancel(ctx)
	if known := c.begun.Ended; known != nil && !o.Resumable && (err != nil || o.Lost) {
		return ap.note(ctx, c.run, *known, c.begun)
	}
	switch {
	case o.Resumable && c.stop != nil:
		return ap.stopped(ctx, c, o, *c.stop)
	case o.Resumable:
		return ap.rest(ctx, c.run, c.begun, o)
	case o.Lost:
		o.Report = notes.Interrupted() + "\n\n" + o.Report
	}
	if o.Failed && c.begun.Fence > 1 {
		remedy, err := ap.longer(ctx)
		if err != nil {
			return err
		}
		o.Report += remedy
	}
	return ap.note(ctx, c.run, o, c.begun)
}

// rest hands the apply over to the next process, with the state locked. Each write can be repeated
// by a process that finds it undone: after the record of the apply the next process need not wait
// for our end; the rest is for people.
func (ap *Applier) rest(ctx context.Context, s ledger.Versioned, b ledger.Begun, o jobs.Outcome) error {
	goesOn := o.Progress.Done > b.Progress.Done
	if _, err := ap.Ledger.Rest(ctx, s.Run, b, o); err != nil {
		return err
	}
	if goesOn {
		ap.Tries.GoesOn(ctx)
	}
	// Other pull requests would revert what is applied by now, even if nobody ever went on.
	if err := remember(ctx, ap, s.Run, o.State); err != nil {
		return err
	}
	s = s.To(runs.Continuing)
	s.Apply.Progress = o.Progress
	s, err := ap.Ledger.Save(ctx, s)
	if err != nil {
		return err
	}
	if err := ap.Leases.Rest(ctx, s.Run); err != nil {
		return err
	}
	if err := ap.Report.Going(ctx, s.Run); err != nil {
		return err
	}
	return &pipeline.HandOver{Why: fmt.Sprintf("%d of %d changes are done", o.Progress.Done, o.Progress.Of)}
}
