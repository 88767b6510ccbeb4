package applyrun

import (
	"context"

	"github.com/lockstep-iac/lockstep/functions/pipeline"
	"github.com/lockstep-iac/lockstep/functions/pipeline/evidence"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/ledger"
	"github.com/lockstep-iac/lockstep/functions/pipeline/runs"
)

// finishes records what the apply of a run has finished of other pull requests, whose merges have left it, and has their issues
// written anew. The plan of the run has them if the tip of the base branch that it is of has the merge. It can be repeated.
func (ap *Applier) finishes(ctx context.Context, r runs.Run) error {
	all, err := ledger.Lefts(ctx, ap.Ledger, r.Pull.Repo.ID, r.Target())
	if err != nil {
		return err
	}
	for _, l := range all {
		if !l.Finishes(r) {
			continue
		}
		lacks, err := ap.Evidence.Hub.Behind(ctx, r.Base, l.Merge)
		if _, err := evidence.Impossible(err); err != nil {
			return err
		}
		if err != nil || lacks {
			continue
		}
		if err := ledger.FinishLeft(ctx, ap.Ledger, l, r.Target(), r.Pull.Number); err != nil {
			return err
		}
		if err := pipeline.Send(ctx, ap.Queue, l.Pull, pipeline.Message{Kind: pipeline.SyncComments}, r.Plain(), l.Pull.Number, "left", r.Pull.Number, r.Try); err != nil {
			return err
		}
	}
	return nil
}
