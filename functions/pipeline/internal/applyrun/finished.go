package applyrun

import (
	"context"

	"github.com/lockstep-iac/lockstep/functions/pipeline"
	"github.com/lockstep-iac/lockstep/functions/pipeline/gatefacts"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/ledger"
	"github.com/lockstep-iac/lockstep/functions/pipeline/runs"
)

// Finished tells, on a merged pull request, whose applies have finished what the merge has left, once for each project. It is part
// of the handling of a message of its events, and can be repeated.
func Finished(ctx context.Context, cl *Closer) error {
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
		l, err := ledger.LeftOf(ctx, cl.Ledger, s.Run)
		if err != nil {
			return err
		}
		r, ok := runs.FinishedByAnother(s.Run, l.By)
		if !ok {
			continue
		}
		s.Run = r
		// The check comes before the record: nobody would come back to it.
		if err := cl.Report.PutCheck(ctx, s.Run); err != nil {
			return err
		}
		if err := cl.Ledger.Shut(ctx, s.Run); err != nil {
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

// finishes records what the apply of a run has finished of other pull requests, whose merges have left it, and has their issues
// written anew. The plan of the run has them if the tip of the base branch that it is of has the merge. It can be repeated.
func (ap *Applier) finishes(ctx context.Context, r runs.Run) error {
	all, err := ledger.Lefts(ctx, ap.Ledger, r)
	if err != nil {
		return err
	}
	for _, l := range all {
		if !l.Finishes(r) {
			continue
		}
		lacks, err := ap.Facts.Hub.Behind(ctx, r.Spec.Base, l.Merge)
		if _, err := gatefacts.Impossible(err); err != nil {
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
