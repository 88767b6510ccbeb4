package planrun

import (
	"context"
	"errors"

	"github.com/lockstep-iac/lockstep/functions/comment"
	"github.com/lockstep-iac/lockstep/functions/comment/reasons"
	"github.com/lockstep-iac/lockstep/functions/pipeline"
	"github.com/lockstep-iac/lockstep/functions/pipeline/gatefacts"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/admission"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/ledger"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/report"
	"github.com/lockstep-iac/lockstep/functions/pipeline/jobs"
	"github.com/lockstep-iac/lockstep/functions/pipeline/runs"
)

// Unplanned records that a plan was not made, with the reason. If the plan is already finished, Unplanned only
// reports it once more.
func (pl *Planner) Unplanned(ctx context.Context, s ledger.Versioned, why comment.Broken) error {
	switch s.Phase {
	case runs.Queued, runs.Planning:
		return pl.recordFailure(ctx, s, comment.Markdown(why))
	case runs.Planned, runs.PlanFailed:
		return pl.Planned(ctx, s.Run)
	}
	return nil
}

// storePlan stores the artifacts of a plan, which may have failed. It then saves the run in its next phase,
// with the names of the artifacts.
func (pl *Planner) storePlan(ctx context.Context, s ledger.Versioned, result jobs.PlanResult, in ledger.Inputs, foreseen ...jobs.PlannedOutputs) error {
	s, err := pl.planStore().store(ctx, s, result, in, foreseen)
	if err != nil {
		return err
	}
	if result.Plan == nil && s.Kept != nil {
		return pl.goBack(ctx, s)
	}
	kept := s.Kept != nil
	if !kept {
		if err := ledger.Sweep(ctx, pl.Artifacts, s.Run, s.Artifacts.Begun-1); err != nil {
			return err
		}
		s.Artifacts.Swept = s.Artifacts.Begun - 1
	}
	next := runs.Planned
	if result.Plan == nil && !result.Previewed {
		next = runs.PlanFailed
	}
	s = s.To(next)
	s.Kept = nil
	if _, err := pl.Ledger.Save(ctx, s); err != nil {
		if errors.Is(err, pipeline.ErrConflict) {
			return errors.Join(ErrSuperseded, pl.sweepOne(ctx, s.Run))
		}
		return err
	}
	pl.Report.Made = s.Plan.Hash
	if kept { // only now: until the record was saved, the run could still return to the kept plan
		if err := ledger.Sweep(ctx, pl.Artifacts, s.Run, s.Artifacts.Begun-1); err != nil {
			return err
		}
	}
	return pl.Planned(ctx, s.Run)
}

// goBack returns a run whose plan with options has failed to the plan that it had before. The answer to the command
// has the failure. An apply that was requested together with the failed plan is refused: the person meant another plan.
func (pl *Planner) goBack(ctx context.Context, s ledger.Versioned) error {
	failed := s.Run
	failed.Phase = runs.PlanFailed
	if err := pl.Report.Reply(ctx, s.Asked.Answer, report.PlanOutcome(failed)); err != nil {
		return err
	}
	if err := pl.Report.AnswerWaitingApply(ctx, failed, reasons.RequestedFailed{}); err != nil {
		return err
	}
	s.Run = s.Return(pl.Facts.Pull.Updated)
	sealed := s.PlanIsSealed(pl.Facts.Hub.Seal)
	if sealed {
		s.Run = s.SealPlan(pl.Facts.Hub.Seal) // for this attempt
	}
	if err := pl.Ledger.ListPlan(ctx, s.Run, pl.Report.Facts.Pull.Author); err != nil {
		return err
	}
	if _, err := pl.Ledger.Save(ctx, s); err != nil {
		if errors.Is(err, pipeline.ErrConflict) {
			return ErrSuperseded
		}
		return err
	}
	if sealed { // the check run does not show the kept plan any more
		pl.Report.Made = s.Plan.Hash
	}
	return pl.Planned(ctx, s.Run)
}

func (pl *Planner) planStore() PlanStore {
	return PlanStore{Report: pl.Report, Ledger: pl.Ledger, Artifacts: pl.Artifacts, Projects: pl.Projects, Hooks: pl.Hooks, Steps: pl.Steps}
}

// sweepOne deletes the artifacts of the run's last plan, because that plan is not used.
func (pl *Planner) sweepOne(ctx context.Context, r runs.Run) error {
	r.Artifacts.Swept = r.Artifacts.Begun - 1
	return ledger.Sweep(ctx, pl.Artifacts, r, r.Artifacts.Begun)
}

// recordFailure records that a plan has failed. why is the reason, in Markdown.
func (pl *Planner) recordFailure(ctx context.Context, s ledger.Versioned, why string) error {
	if s.Phase == runs.Queued {
		s.Artifacts.Begun = s.NextBegun() // the name of the report's artifact contains it
	}
	return pl.storePlan(ctx, s, jobs.PlanResult{Report: why}, ledger.Inputs{})
}

// recordDenial records that a plan has failed, for the reasons in d.
func (pl *Planner) recordDenial(ctx context.Context, s ledger.Versioned, d admission.Decision) error {
	return pl.recordFailure(ctx, s, d.Reasons.Markdown())
}

// recordFinalError records that a plan has failed, if err stays the same until a person fixes something. It
// returns any other error unchanged.
func (pl *Planner) recordFinalError(ctx context.Context, s ledger.Versioned, err error) error {
	d, err := gatefacts.FinalRefusal(gatefacts.DiskFull(err))
	if err != nil {
		return err
	}
	return pl.recordDenial(ctx, s, d)
}

// Planned reports the result of a plan: in the status comment, in the check, and in the answer that waits for
// it.
func (pl *Planner) Planned(ctx context.Context, r runs.Run) error {
	if err := pl.Report.Reply(ctx, r.Asked.Answer, report.PlanOutcome(r)); err != nil {
		return err
	}
	if err := pl.Open.CheckNew(ctx, r); err != nil {
		return err
	}
	if err := pl.Report.AtRest(ctx, r); err != nil {
		return err
	}
	if err := pl.Foreseer.GoOn(ctx); err != nil {
		return err
	}
	if r.Asked.ThenApply == r.Asked.Try+1 { // the apply needs the hash of the plan on GitHub
		if err := report.WriteShared(ctx, pl.Report, r); err != nil {
			return err
		}
	}
	return pl.queueFollowing(ctx, r)
}
