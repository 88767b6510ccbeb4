package replanning

import (
	"cmp"
	"context"

	"github.com/lockstep-iac/lockstep/functions/pipeline/gatefacts"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/ledger"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/planrun"
	"github.com/lockstep-iac/lockstep/functions/pipeline/runs"
)

// endRemoved ends the plan of a run whose project the base branch has removed or renamed. merge is the commit
// without the project.
func endRemoved(ctx context.Context, c *Checker, s ledger.Versioned, merge string) error {
	s.Plan.Applies = c.applies
	name, err := gatefacts.Successor(ctx, c.Facts, merge, s.Run)
	if err != nil {
		return err
	}
	if name != "" {
		if err := planrun.Renamed(ctx, c.Report, c.Ledger, s, name); err != nil {
			return err
		}
		s.Run, _ = runs.RenamedByBase(s.Run, name)
		return c.Report.AtRest(ctx, s.Run)
	}
	if err := planrun.SupersedeRemoved(ctx, c.Report, c.Ledger, s); err != nil {
		return err
	}
	s.Run, _ = runs.RemovedByBase(s.Run)
	return c.Report.AtRest(ctx, s.Run)
}

// planReturned queues the plan of a run whose project the base branch had removed and has now once more. It
// uses the present trial merge and the same options. If the project is still missing, it reports that once
// more, because an earlier attempt may have died before its report.
func planReturned(ctx context.Context, c *Checker, s ledger.Versioned) error {
	q, no, err := c.present(ctx, s.Run)
	if err != nil {
		if _, err := gatefacts.FinalRefusal(err); err != nil {
			return err
		}
	}
	has, at := false, ""
	if err == nil && no == nil {
		at = q.Run.Spec.Base
		p, there, _, err := gatefacts.ProjectAt(ctx, c.Facts, q.Run.Spec.Merge, q.Run)
		if err != nil {
			return err
		}
		has, s.Spec.Dir, s.Spec.VarFiles, s.Spec.Environment = there, p.Dir, p.VarFiles, p.Environment
	}
	if !has {
		return stillGone(ctx, c, s.Key(), at)
	}
	s.Spec.Base, s.Spec.Merge, s.Spec.BaseRef, s.Spec.ApplyOn = q.Run.Spec.Base, q.Run.Spec.Merge, q.Run.Spec.BaseRef, q.Run.Spec.ApplyOn
	if s.Plan.Hash != "" { // people may have approved that plan
		s.Plan.Replaced = s.NextBegun()
	}
	s.Run = runs.PlanAgainUnasked(s.Run, c.Facts.Message.ID, c.Facts.Pull.Updated)
	if s, err = c.Ledger.Save(ctx, s); err != nil {
		return err
	}
	return announceAgain(ctx, c, s.Run)
}

// stillGone records that the project of a run is missing at a tip of the base branch, and how often the state
// was applied at that time. at is the tip; "" means the tip in the message. That is needed, for example, if the
// pull request has a conflict, and so no trial merge with the tip.
func stillGone(ctx context.Context, c *Checker, key, at string) error {
	s, err := c.Ledger.Read(ctx, key)
	if err != nil || s.End.Fate != runs.Gone {
		return err
	}
	if at = cmp.Or(at, c.Facts.Message.Tip, s.End.GoneAt); s.Plan.Applies < c.applies || s.End.GoneAt != at {
		s.Plan.Applies, s.End.GoneAt = max(s.Plan.Applies, c.applies), at
		if s, err = c.Ledger.Save(ctx, s); err != nil {
			return err
		}
	}
	return c.Report.AtRest(ctx, s.Run)
}
