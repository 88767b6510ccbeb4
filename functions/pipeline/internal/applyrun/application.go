package applyrun

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/lockstep-iac/lockstep/functions/comment"
	"github.com/lockstep-iac/lockstep/functions/comment/markdown"
	"github.com/lockstep-iac/lockstep/functions/comment/notes"
	"github.com/lockstep-iac/lockstep/functions/pipeline"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/ledger"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/report"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/steps"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/stopping"
	"github.com/lockstep-iac/lockstep/functions/pipeline/jobs"
	"github.com/lockstep-iac/lockstep/functions/pipeline/runs"
)

// An application is that part of an apply which one process makes with the engine.
type application struct {
	ap   *Applier
	run  ledger.Versioned
	plan []byte
	job  jobs.Job
	// permit asks the gate after the state was locked, and returns the apply's record.
	permit func(context.Context, jobs.BeforeApply) (ledger.Begun, jobs.Permit, error)

	far comment.Progress // the progress so far, if it is known
	// recorded is the progress that this process has last recorded. updates writes it for people.
	recorded comment.Ongoing
	updates  report.Updates
	begun    ledger.Begun  // its version is empty while nothing was allowed
	failed   error         // the error of permit
	stop     *ledger.Stop  // the command that stopped it; nil for none
	ran      steps.Results // of the steps before the apply
	after    steps.List    // the steps after the apply
}

// execute lets the engine apply the plan, until the plan is done, the time is over, or somebody stops the
// apply.
func (c *application) execute(ctx context.Context) (jobs.Outcome, error) {
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
	c.updates = report.Updates{Run: c.run.Run, Name: []any{c.run.Asked.Try}}
	c.job.Progress = func(p comment.Ongoing) {
		if err := c.progress(context.WithoutCancel(ctx), p); errors.Is(err, pipeline.ErrConflict) {
			deposed(err) // another process has the apply
		}
	}
	c.job.Ended = func(o jobs.Outcome) error { return c.ended(context.WithoutCancel(ctx), o) }
	c.job.Typical = c.typical(ctx)
	work, end := stopping.Watch(ctx, c.ap.Ledger, c.run.Run, c.ap.Poll)
	defer end()
	outcome, err := c.ap.Engine.Apply(work, c.job, c.plan, func(now jobs.BeforeApply) (answer jobs.Permit) {
		if c.begun, answer, c.failed = c.permit(ctx, now); c.failed != nil {
			return jobs.Refused
		}
		return answer
	})
	c.stop = end()
	c.recordDurations(ctx, outcome.Took)
	// Only the page needs the contents. Without them, it shows less, and the apply is as good.
	if outcome.Contents != "" {
		_ = c.ap.Artifacts.Put(context.WithoutCancel(ctx), c.run.Contents(), []byte(c.ap.Report.Clean(outcome.Contents)))
	} else if outcome.Failed {
		_ = c.ap.Artifacts.Delete(context.WithoutCancel(ctx), c.run.Contents()) // those of an earlier apply are out of date
	}
	outcome.Took, outcome.Calls, outcome.Contents = nil, nil, ""
	if err == nil {
		outcome, err = c.storeFull(ctx, outcome)
	}
	return outcome, err
}

// ended records the result in the apply's record before the journal is deleted. So the result is known even if
// this process dies before it has recorded the end.
func (c *application) ended(ctx context.Context, o jobs.Outcome) (err error) {
	if o, err = c.storeFull(ctx, o); err != nil {
		return err
	}
	o.Took, o.Calls, o.Contents = nil, nil, ""
	o = c.ap.storeReport(ctx, c.run, o)
	c.begun.Ended = &o
	c.begun, err = c.ap.Ledger.EndApply(ctx, c.run.Run, c.begun)
	return err
}

// storeFull stores the whole text of the result if the report is shortened. The report then says where the text
// is.
func (c *application) storeFull(ctx context.Context, o jobs.Outcome) (jobs.Outcome, error) {
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

// end records how this process' part of an apply has ended.
func (c *application) end(ctx context.Context, o jobs.Outcome, err error) error {
	ap := c.ap
	if err != nil {
		// If the process has no time left, the next process can continue from the journal.
		o.Failed, o.Resumable, o.Report = true, ctx.Err() != nil || c.stop != nil, markdown.Code(ap.Report.Clean(err.Error()))
	}
	if o.Progress.Of == 0 {
		o.Progress = c.far
	}
	within := ctx
	ctx = context.WithoutCancel(ctx)
	if known := c.begun.Ended; known != nil && !o.Resumable && (err != nil || o.Lost) {
		return ap.recordOutcome(ctx, c.run, *known, c.begun)
	}
	switch {
	case o.Resumable && c.stop != nil:
		return ap.stopped(ctx, c, o, *c.stop)
	case o.Resumable:
		return ap.handOver(ctx, c.run, c.begun, o)
	case o.Lost:
		o.Report = notes.Interrupted() + "\n\n" + o.Report
	}
	if o.Failed && c.begun.Fence > 1 {
		remedy, err := ap.buildRemedy(ctx)
		if err != nil {
			return err
		}
		o.Report += remedy
	}
	o.Report = c.stepsReport(within) + o.Report
	return ap.recordOutcome(ctx, c.run, o, c.begun)
}

// stepsReport returns the results of the steps before the apply, and of those after it, which it runs. The apply is over by
// then, so a failure of stepsReport is a part of the text. The steps end before the time of this process does, so that it
// can record the result.
func (c *application) stepsReport(ctx context.Context) string {
	after, err := c.ap.Steps.Each(ctx, c.after, c.run.Run, c.job, nil)
	all := slices.Concat(c.ran, after)
	where, unkept := c.keepOutputs(context.WithoutCancel(ctx), all)
	text := all.Markdown(where)
	if unkept != nil {
		text += "The outputs of the steps could not be stored: " + markdown.Code(c.ap.Report.Clean(unkept.Error())) + "\n\n"
	}
	if err != nil {
		text += "Not all steps after the apply have run: " + markdown.Code(c.ap.Report.Clean(err.Error())) + "\n\n"
	}
	return text
}

// keepOutputs stores the outputs of steps, and returns their place for people; "" if there is none.
func (c *application) keepOutputs(ctx context.Context, all steps.Results) (where string, err error) {
	text := all.Outputs()
	if text == nil {
		return "", nil
	}
	a := c.run.ApplyStepOutputs()
	if err := c.ap.Artifacts.Put(ctx, a, text); err != nil {
		return "", err
	}
	c.run.Artifacts.Steps = true
	if c.ap.Report.Where == nil {
		return "", nil
	}
	return c.ap.Report.Where(a), nil
}

// handOver passes the apply on to another process; the state stays locked. If this process dies between two
// writes, the next process can repeat all of them. After the apply's record is written, the next process need
// not wait until this one has ended. The remaining writes are for people.
func (ap *Applier) handOver(ctx context.Context, s ledger.Versioned, b ledger.Begun, o jobs.Outcome) error {
	goesOn := o.Progress.Done > b.Progress.Done
	if _, err := ap.Ledger.RecordHandOver(ctx, s.Run, b, o); err != nil {
		return err
	}
	if goesOn {
		ap.Tries.Restart(ctx)
	}
	// Other pull requests must learn of this apply now, because their plans would revert its changes. That is
	// necessary even if no process continues the apply.
	if err := recordLastApply(ctx, ap, s.Run, o.State, b.Audited); err != nil {
		return err
	}
	s = s.To(runs.Continuing)
	s.Apply.Progress = o.Progress
	s, err := ap.Ledger.Save(ctx, s)
	if err != nil {
		return err
	}
	if err := ap.Leases.HandOver(ctx, s.Run); err != nil {
		return err
	}
	if err := ap.Report.ReportProgress(ctx, s.Run); err != nil {
		return err
	}
	return &pipeline.HandOver{Why: fmt.Sprintf("%d of %d changes are done", o.Progress.Done, o.Progress.Of)}
}
