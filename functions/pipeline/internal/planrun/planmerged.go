package planrun

import (
	"context"
	"fmt"
	"slices"

	"github.com/lockstep-iac/lockstep/functions/comment"
	"github.com/lockstep-iac/lockstep/functions/comment/reasons"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/ledger"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/report"
)

// PlanMerged queues plans for a merge whose head was not planned, or only in part. It does the same as if the
// person who merged had commented "lockstep plan". Lockstep's comment about the merge shows the results.
// PlanMerged reports nothing if there is nothing to plan, or if Lockstep does not plan for the base branch. For
// a project that is being applied, it also reports nothing: this project is planned when the apply ends.
func (qu *PlanQueuer) PlanMerged(ctx context.Context) error {
	if err := qu.Facts.Look(ctx); err != nil {
		return err
	}
	if !qu.Facts.Pull.Merged {
		return nil
	}
	if l, err := qu.Ledger.LastLook(ctx, qu.Facts.Message.Pull); err != nil || l.Silent {
		return err // another tool has applied it, or will
	}
	replies, err := qu.Enqueue(ctx, comment.Command{Verb: comment.Plan})
	if err != nil {
		return err
	}
	for i, r := range replies {
		no, is := r.(comment.Refused)
		if is && slices.ContainsFunc(no.Reasons, notAnswered) {
			continue
		}
		if err := qu.Report.Reply(ctx, ledger.MergeAnswer, report.NewReply(fmt.Sprint("landed ", i), r)); err != nil {
			return err
		}
	}
	return qu.Report.Sync(ctx)
}

// notAnswered reports whether a plan of a merge that is refused for this reason needs no answer.
func notAnswered(why reasons.Reason) bool {
	switch why.(type) {
	case reasons.OtherBase, reasons.BeingApplied:
		return true
	}
	return false
}
