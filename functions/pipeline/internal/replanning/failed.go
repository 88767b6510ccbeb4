package replanning

import (
	"context"

	"github.com/lockstep-iac/lockstep/functions/pipeline"
	"github.com/lockstep-iac/lockstep/functions/pipeline/gatefacts"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/ledger"
	"github.com/lockstep-iac/lockstep/functions/pipeline/runs"
)

// planFailedAgain queues a failed plan once more, from the present trial merge and with the same options. If
// the gate refuses, the run stays unchanged until something else changes.
func planFailedAgain(ctx context.Context, c *Checker, s ledger.Versioned) error {
	q, no, err := c.present(ctx, s.Run)
	if err != nil {
		if _, err := gatefacts.FinalRefusal(err); err != nil {
			return err
		}
	}
	if err != nil || no != nil {
		return recordUnchanged(ctx, c, s)
	}
	_, has, known, err := gatefacts.ProjectAt(ctx, c.Facts, q.Run.Spec.Merge, q.Run)
	if err != nil {
		return err
	}
	if known && !has {
		return endRemoved(ctx, c, s, q.Run.Spec.Merge)
	}
	s.Spec.Base, s.Spec.Merge, s.Spec.ApplyOn = q.Run.Spec.Base, q.Run.Spec.Merge, q.Run.Spec.ApplyOn
	s.Run = runs.PlanAgainUnasked(s.Run, c.Facts.Message.ID, c.Facts.Pull.Updated)
	if s, err = c.Ledger.Save(ctx, s); err != nil {
		return err
	}
	return announceAgain(ctx, c, s.Run)
}

// announceAgain reports that a failed plan will be made once more, and sends the message for it.
func announceAgain(ctx context.Context, c *Checker, r runs.Run) error {
	if err := c.Report.AtRest(ctx, r); err != nil {
		return err
	}
	for _, m := range r.PlanMessages() {
		if err := pipeline.Send(ctx, c.Foreseer.Queue, r.Pull, m, r.MessageName(), r.Asked.Attempt); err != nil {
			return err
		}
	}
	return nil
}

// recordUnchanged records the facts with which Lockstep decided not to repeat a failed plan. It decides once
// more only after these facts have changed.
func recordUnchanged(ctx context.Context, c *Checker, s ledger.Versioned) error {
	s.Plan.Applies, s.Plan.Reads = c.applies, c.reads
	if c.plannedOn != nil {
		s.Plan.Failure = &runs.Failure{On: c.plannedOn}
	}
	_, err := c.Ledger.Save(ctx, s)
	return err
}
