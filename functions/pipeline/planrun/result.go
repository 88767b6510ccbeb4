package planrun

import (
	"context"
	"errors"

	"github.com/lockstep-iac/lockstep/functions/comment"
	"github.com/lockstep-iac/lockstep/functions/pipeline"
	"github.com/lockstep-iac/lockstep/functions/pipeline/evidence"
	"github.com/lockstep-iac/lockstep/functions/pipeline/jobs"
	"github.com/lockstep-iac/lockstep/functions/pipeline/ledger"
	"github.com/lockstep-iac/lockstep/functions/pipeline/report"
	"github.com/lockstep-iac/lockstep/functions/pipeline/runs"
)

// Unplanned records of a run that is to be planned that it is not, and says again what
// came of one that was.
func (pl *Planner) Unplanned(ctx context.Context, s ledger.Versioned, why comment.Broken) error {
	switch s.Phase {
	case runs.Queued, runs.Planning:
		return pl.NotPlanned(ctx, s, comment.Markdown(why))
	case runs.Planned, runs.PlanFailed:
		return pl.Planned(ctx, s.Run)
	}
	return nil
}

// keep keeps what became of a plan, and moves the run on. What is kept first belongs to
// nobody until the run says so.
func (pl *Planner) keep(ctx context.Context, s ledger.Versioned, result jobs.PlanResult, in ledger.Inputs) error {
	put := func(a pipeline.Artifact, data []byte) error {
		if len(data) == 0 {
			return nil
		}
		return pl.Artifacts.Put(ctx, a, data)
	}
	report := []byte(pl.Report.Clean(result.Report))
	if err := errors.Join(put(s.Plan(), result.Plan), put(s.Report(), report),
		put(s.FullReport(), []byte(pl.Report.Clean(result.Full))), put(s.InputsOf(), pipeline.Encode(in))); err != nil {
		return err
	}
	if err := ledger.Sweep(ctx, pl.Artifacts, s.Run, s.Begun-1); err != nil {
		return err
	}
	if result.Plan == nil {
		s = s.To(runs.PlanFailed)
	} else {
		s = s.To(runs.Planned)
		s.State, s.Inputs, s.Counts, s.Applyable = result.State, in.Tree.Hash(), result.Counts, result.Applyable
		s.PlanHash, s.Reported = runs.HashOf(result.Plan), runs.HashOf(report)
	}
	s.Full, s.Swept = result.Full != "", s.Begun-1
	if _, err := pl.Ledger.Save(ctx, s); err != nil {
		if errors.Is(err, pipeline.ErrConflict) {
			return errors.Join(errSuperseded, pl.sweepOne(ctx, s.Run))
		}
		return err
	}
	return pl.Planned(ctx, s.Run)
}

// sweepOne deletes what is kept of the plan that was begun last.
func (pl *Planner) sweepOne(ctx context.Context, r runs.Run) error {
	r.Swept = r.Begun - 1
	return ledger.Sweep(ctx, pl.Artifacts, r, r.Begun)
}

// NotPlanned records that there is no plan, and why, in Markdown.
func (pl *Planner) NotPlanned(ctx context.Context, s ledger.Versioned, why string) error {
	if s.Phase == runs.Queued {
		s.Begun++ // names the report
	}
	return pl.keep(ctx, s, jobs.PlanResult{Report: why}, ledger.Inputs{})
}

// denied records that there is no plan for the reasons of a decision.
func (pl *Planner) denied(ctx context.Context, s ledger.Versioned, d runs.Decision) error {
	return pl.NotPlanned(ctx, s, comment.Markdown(evidence.Refused(comment.Command{Verb: comment.Plan}, s.Project, d)))
}

// cannotPlan records that there is no plan if err is final; any other error stays one.
func (pl *Planner) cannotPlan(ctx context.Context, s ledger.Versioned, err error) error {
	d, err := evidence.Impossible(err)
	if err != nil {
		return err
	}
	return pl.denied(ctx, s, d)
}

// Planned says what became of a plan, wherever somebody waits for it.
func (pl *Planner) Planned(ctx context.Context, r runs.Run) error {
	var p ledger.Reply
	if r.Phase == runs.Planned {
		p = report.PlanReply(r, comment.Planned{Project: r.Project, Counts: r.Counts})
	} else {
		p = report.PlanReply(r, comment.Failed{Project: r.Project, Verb: comment.Plan})
		p.Body = r.Report()
	}
	if err := pl.Report.Reply(ctx, r.Answer, p); err != nil {
		return err
	}
	return pl.Report.AtRest(ctx, r)
}
