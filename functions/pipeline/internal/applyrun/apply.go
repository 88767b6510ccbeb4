package applyrun

import (
	"context"
	"fmt"

	"github.com/lockstep-iac/lockstep/functions/comment/reasons"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/admission"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/ledger"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/planrun"
	"github.com/lockstep-iac/lockstep/functions/pipeline/jobs"
	"github.com/lockstep-iac/lockstep/functions/pipeline/runs"
)

// An apply may die after each of its writes. Its message is then handled again, and the repetition reads from
// the records how much was done:
//
//	lease           nothing was changed. The repetition waits until the lease of the dead process has expired
//	phase Applying  nothing was changed if there is no apply record: the apply begins again, in the queue
//	apply record    written with the state locked, before the first change. From here on the apply is never begun
//	                again: its changes are in the journal beside the state, and the repetition continues from there
//	ended           in the apply record, before the journal is removed and the state unlocked. The repetition continues
//	                with the journal and finds nothing left to do. If the journal is gone, it takes this outcome
//	outcome         in the apply record. Nothing more is applied, and the end is recorded: see Finish
//	last phase      the end is announced again, in the check and in the comments
//
// The gate decides until the apply record is written. Each refusal leaves the plan as it was: see [inquiry].
// The gate decides for the last time in permission.decide, with the state locked and the plan made again. Only
// that answer allows changes.

// Apply applies one saved plan. It handles a message, and can be repeated: an apply that was begun is never
// begun again, but continued. The error is a *pipeline.HandOver if another process has to continue.
func (ap *Applier) Apply(ctx context.Context) error {
	s, err := ap.Ledger.Read(ctx, ap.Facts.Message.Run())
	if err != nil || s.Version == "" || s.Asked.Try != ap.Facts.Message.Attempt {
		return err
	}
	if err := ap.Facts.Look(ctx); err != nil {
		return err
	}
	switch s.Phase {
	case runs.ApplyQueued:
	case runs.Applying, runs.Continuing:
		e, begun, err := ap.Ledger.ApplyRecord(ctx, s.Run)
		if err != nil {
			return err
		}
		if begun != "" && e.Outcome == nil {
			b := ledger.Begun{ApplyRecord: e, Version: begun}
			if err := ap.continuesInBuild(ctx, s, b); err != nil {
				return err
			}
			return ap.continueApply(ctx, s, b)
		}
		if begun != "" {
			return ap.Finish(ctx, s, e)
		}
		s, ap.left = s.To(runs.ApplyQueued), true // an earlier attempt died before it changed anything
	case runs.Stopped:
		return ap.Stopped(ctx, s)
	case runs.Applied, runs.ApplyFailed:
		return ap.Applied(ctx, s.Run)
	default:
		return ap.RefusedApply(ctx, s)
	}
	if err := ap.Leases.HoldAlone(ctx, s.Run); err != nil {
		return err
	}
	if d, err := ap.unlessStopped(ctx, s.Run); err != nil {
		return err
	} else if !d.Allowed() {
		return ap.refuse(ctx, s, d)
	}
	return ap.applyQueued(ctx, s)
}

// applyQueued reads the facts and asks the gate. If the gate allows the apply, it passes the plan to the
// engine.
func (ap *Applier) applyQueued(ctx context.Context, s ledger.Versioned) error {
	x := &inquiry{ap: ap, s: s, done: func() {}}
	defer func() { x.done() }()
	d, err := x.ask(ctx)
	if err != nil {
		return ap.cannotApply(ctx, x.s, err)
	}
	if !d.Allowed() {
		return ap.refuse(ctx, x.s, d)
	}
	if away, err := ap.inBuild(ctx, x.s, x.job); away || err != nil {
		return err
	}
	if s, err = ap.Ledger.Save(ctx, x.s.To(runs.Applying)); err != nil {
		return err // a conflict: another process applies it
	}
	if err := ap.Report.PutCheck(ctx, s.Run); err != nil {
		return err
	}
	return ap.carryOut(ctx, s, x.q, x.plan, x.job, x.in)
}

// carryOut applies a plan. The engine locks the state, and then the gate is asked once more. After that, no
// fact can change.
func (ap *Applier) carryOut(ctx context.Context, s ledger.Versioned, q admission.Request, plan []byte, job jobs.Job, in ledger.Inputs) error {
	c := &application{ap: ap, run: s, plan: plan, job: job}
	p := &permission{ap: ap, application: c, q: q, in: in}
	c.permit = p.decide
	outcome, err := c.execute(ctx)
	switch {
	case c.failed != nil:
		return fmt.Errorf("apply %s: %w", s.Project, c.failed)
	case c.begun.Version != "":
		return c.end(ctx, outcome, err)
	case err != nil:
		return fmt.Errorf("apply %s: %w", s.Project, err)
	case len(outcome.Moved) > 0:
		q.Modules = outcome.Moved
		return ap.refuse(ctx, s, admission.Decide(q))
	case outcome.Refused && p.again != nil && !p.again.Equal && admission.Has[reasons.PlanDiffers](p.last):
		return ap.storeDifferent(ctx, p, planrun.Replacement{Again: *p.again, Job: job, Inputs: in})
	case outcome.Refused:
		return ap.refuse(ctx, p.judged(p.run), p.last) // settle may have saved the run
	}
	return ap.Untouched(ctx, s, outcome)
}

// unlessStopped refuses an apply if somebody has stopped it before it was begun.
func (ap *Applier) unlessStopped(ctx context.Context, r runs.Run) (admission.Decision, error) {
	stop, err := ap.Ledger.StopOf(ctx, r)
	if err != nil || stop == nil {
		return admission.Decision{}, err
	}
	return admission.Refusal(reasons.WasStopped{By: stop.By, Merged: r.ByMerge()}), nil
}
