package applyrun

import (
	"context"

	"github.com/lockstep-iac/lockstep/functions/comment"
	"github.com/lockstep-iac/lockstep/functions/pipeline/gatefacts"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/ledger"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/report"
	"github.com/lockstep-iac/lockstep/functions/pipeline/runs"
	"github.com/lockstep-iac/lockstep/functions/project"
)

// leftReply is the ID of the reply about projects that the merge left unapplied.
const leftReply = "left"

// unapplied lists, in Lockstep's comment about the merge, the projects that are not applied and that only a
// comment can apply. People must write a new comment for them. Projects that the merge itself applies have
// their own replies. The list is written once, and not changed later.
func unapplied(ctx context.Context, cl *Closer) error {
	if !cl.Facts.Pull.Merged {
		return nil
	}
	all, err := cl.Ledger.Runs(ctx, cl.Facts.Message.Pull)
	if err != nil {
		return err
	}
	var u comment.Unapplied
	for _, s := range all {
		switch {
		case s.Spec.Head != cl.Facts.Pull.Head.SHA || s.Phase != runs.Dropped || !s.SelectedBy(comment.Command{Failed: true}):
		case s.Spec.ApplyOn == project.OnMerge || s.Spec.Removed:
		case s.End.Was == runs.Applied || s.End.Was == runs.ApplyFailed:
			u.Partly = append(u.Partly, runs.Label(s.Run))
		default:
			u.Projects = append(u.Projects, runs.Label(s.Run))
		}
	}
	if len(u.Projects)+len(u.Partly) == 0 {
		return nil
	}
	if planned, err := gatefacts.BasePlanned(ctx, cl.Facts); err != nil || !planned {
		return err
	}
	return cl.Report.ChangeAnswer(ctx, ledger.MergeAnswer, func(a *ledger.Answer) {
		if !a.Has(leftReply) {
			a.Replies, a.Synced = append(a.Replies, report.NewReply(leftReply, u)), false
		}
	})
}
