package planrun

import (
	"context"
	"errors"

	"github.com/lockstep-iac/lockstep/functions/comment"
	"github.com/lockstep-iac/lockstep/functions/pipeline"
	"github.com/lockstep-iac/lockstep/functions/pipeline/gatefacts"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/admission"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/ledger"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/report"
	"github.com/lockstep-iac/lockstep/functions/pipeline/jobs"
	"github.com/lockstep-iac/lockstep/functions/pipeline/runs"
)

// Unplanned records the failure of a plan that was never made. Of a finished one it repeats the
// announcement.
func (pl *Planner) Unplanned(ctx context.Context, s ledger.Versioned, why comment.Broken) error {
	switch s.Phase {
	case runs.Queued, runs.Planning:
		return pl.notPlanned(ctx, s, comment.Markdown(why))
	case runs.Planned, runs.PlanFailed:
		return pl.Planned(ctx, s.Run)
	}
	return nil
}

// keep stores the artifacts of a plan, finished or failed, and moves the run on. Until the run's
// record names them they belong to nobody.
func (pl *Planner) keep(ctx context.Context, s ledger.Versioned, result jobs.PlanResult, in ledger.Inputs, foreseen ...jobs.PlannedOutputs) error {
	s, err := pl.kept().store(ctx, s, result, in, foreseen)
	if err != nil {
		return err
	}
	if err := ledger.Sweep(ctx, pl.Artifacts, s.Run, s.Artifacts.Begun-1); err != nil {
		return err
	}
	next := runs.Planned
	if result.Plan == nil && !result.Previewed {
		next = runs.PlanFailed
	}
	s = s.To(next)
	s.Artifacts.Swept = s.Artifacts.Begun - 1
	if _, err := pl.Ledger.Save(ctx, s); err != nil {
		if errors.Is(err, pipeline.ErrConflict) {
			return errors.Join(ErrSuperseded, pl.sweepOne(ctx, s.Run))
		}
		return err
	}
	return pl.Planned(ctx, s.Run)
}

func (pl *Planner) kept() Kept {
	return Kept{Report: pl.Report, Ledger: pl.Ledger, Artifacts: pl.Artifacts, Projects: pl.Projects, Hooks: pl.Hooks}
}

// sweepOne deletes the artifacts of the last plan begun.
func (pl *Planner) sweepOne(ctx context.Context, r runs.Run) error {
	r.Artifacts.Swept = r.Artifacts.Begun - 1
	return ledger.Sweep(ctx, pl.Artifacts, r, r.Artifacts.Begun)
}

// notPlanned records a failed plan, with the reason in Markdown.
func (pl *Planner) notPlanned(ctx context.Context, s ledger.Versioned, why string) error {
	if s.Phase == runs.Queued {
		s.Artifacts.Begun = s.NextBegun() // the artifact of the report is named by it
	}
	return pl.keep(ctx, s, jobs.PlanResult{Report: why}, ledger.Inputs{})
}

// denied records a failed plan, with the reasons of a decision.
func (pl *Planner) denied(ctx context.Context, s ledger.Versioned, d admission.Decision) error {
	return pl.notPlanned(ctx, s, d.Reasons.Markdown())
}

// cannotPlan records a failed plan if err is final; any other error is returned.
func (pl *Planner) cannotPlan(ctx context.Context, s ledger.Versioned, err error) error {
	d, err := gatefacts.Impossible(gatefacts.Room(err))
	if err != nil {
		return err
	}
	return pl.denied(ctx, s, d)
}

// Planned announces the outcome of a plan to the status, the check, and the answer that waits for
// it.
func (pl *Planner) Planned(ctx context.Context, r runs.Run) error {
	if err := pl.Report.Reply(ctx, r.Asked.Answer, report.Made(r)); err != nil {
		return err
	}
	if err := pl.Open.Kept(ctx, r); err != nil {
		return err
	}
	if err := pl.Report.AtRest(ctx, r); err != nil {
		return err
	}
	if err := pl.Foreseer.GoOn(ctx); err != nil {
		return err
	}
	return pl.follow(ctx, r)
}
