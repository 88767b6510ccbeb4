package applyrun

import (
	"context"

	"github.com/lockstep-iac/lockstep/functions/pipeline"
	"github.com/lockstep-iac/lockstep/functions/pipeline/gatefacts"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/ledger"
	"github.com/lockstep-iac/lockstep/functions/pipeline/runs"
)

// ReportFinished reports on a merged pull request that other pull requests have made the changes that its merge
// left unapplied. It reports each project once. The handler of each event of the pull request calls it. It can
// be repeated.
func ReportFinished(ctx context.Context, cl *Closer) error {
	if !cl.Facts.Pull.Merged {
		return nil
	}
	all, err := cl.Ledger.Runs(ctx, cl.Facts.Message.Pull)
	if err != nil {
		return err
	}
	for _, s := range all {
		if done(s.Run) || s.End.FinishedBy != 0 || s.Spec.Head != cl.Facts.Pull.Head.SHA {
			continue
		}
		l, err := ledger.UnappliedOf(ctx, cl.Ledger, s.Run)
		if err != nil {
			return err
		}
		r, ok := runs.FinishedByAnother(s.Run, l.By)
		if !ok {
			continue
		}
		s.Run = r
		// The check is written before the record. Once the record is written, no later message would write the
		// check.
		if err := cl.Report.PutCheck(ctx, s.Run); err != nil {
			return err
		}
		if err := cl.Ledger.UnlistPlan(ctx, s.Run); err != nil {
			return err
		}
		if s.Over(false) && s.Phase.May(runs.Dropped) {
			if err := cl.drop(ctx, s, s.Phase); err != nil {
				return err
			}
			continue
		}
		if _, err := cl.Ledger.Save(ctx, s); err != nil {
			return err
		}
	}
	return nil
}

// recordFinished records that an apply has made changes that the merges of other pull requests left unapplied.
// It also sends messages to update the issues about these merges. The plan of the run contains the changes of a
// merge if its base commit contains the merge. It can be repeated.
func (ap *Applier) recordFinished(ctx context.Context, r runs.Run) error {
	all, err := ledger.UnappliedMerges(ctx, ap.Ledger, r)
	if err != nil {
		return err
	}
	for _, l := range all {
		if !l.Finishes(r) {
			continue
		}
		lacks, err := ap.Facts.Hub.Behind(ctx, r.Spec.Base, l.Merge)
		if _, err := gatefacts.FinalRefusal(err); err != nil {
			return err
		}
		if err != nil || lacks {
			continue
		}
		if err := ledger.FinishUnapplied(ctx, ap.Ledger, l, r); err != nil {
			return err
		}
		if err := pipeline.Send(ctx, ap.Queue, l.Pull, pipeline.Message{Kind: pipeline.SyncComments}, r.MessageName(), l.Pull.Number, "left", r.Pull.Number, r.Asked.Try); err != nil {
			return err
		}
	}
	return nil
}
