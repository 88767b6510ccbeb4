package applyrun

import (
	"context"
	"errors"

	"github.com/lockstep-iac/lockstep/functions/comment"
	"github.com/lockstep-iac/lockstep/functions/pipeline"
	"github.com/lockstep-iac/lockstep/functions/pipeline/ledger"
	"github.com/lockstep-iac/lockstep/functions/pipeline/report"
	"github.com/lockstep-iac/lockstep/functions/pipeline/runs"
	"github.com/lockstep-iac/lockstep/functions/project"
)

// Close settles a pull request that is not open any more: what waits for the merge is
// applied, what was saved is deleted, and what was applied but is not merged is spoken
// of.
func (cl *Closer) Close(ctx context.Context) error {
	if err := cl.Evidence.Look(ctx); err != nil {
		return err
	}
	if cl.Evidence.Pull.Open {
		return nil // opened again since
	}
	if err := cl.SettleAll(ctx, cl.Evidence.Pull.Merged); err != nil {
		return err
	}
	return cl.Report.Sync(ctx)
}

// SettleAll settles the runs of the pull request. apply says that those which wait for
// its merge are applied.
func (cl *Closer) SettleAll(ctx context.Context, apply bool) error {
	all, err := cl.Ledger.Runs(ctx, cl.Evidence.Message.Pull)
	if err != nil {
		return err
	}
	for _, s := range all {
		if err := cl.leave(ctx, s.Run); err != nil {
			return err
		}
		if apply && s.ApplyOn == project.OnMerge && s.Phase != runs.Superseded {
			if err := cl.applyMerged(ctx, s); err != nil {
				return err
			}
			continue
		}
		// What is being applied, or waits for it, settles itself when it comes to its end.
		if err := cl.drop(ctx, s, s.Phase); err != nil {
			return err
		}
	}
	return nil
}

// leave settles the state that a run was applied to. An apply whose pull request was
// closed without a merge is spoken of: the base branch will never know of it.
func (cl *Closer) leave(ctx context.Context, r runs.Run) error {
	last, err := cl.Ledger.Settle(ctx, r, r.Pull.Number, true)
	if err != nil || last == nil || cl.Evidence.Pull.Merged {
		return err
	}
	return cl.Report.Reply(ctx, ledger.CloseAnswer, report.NewReply(r.Target()+" "+last.Head, comment.Unfinished{Project: r.Project, By: last.By, Head: last.Head}))
}

// applyMerged asks for the apply of a plan now that its pull request is merged.
func (cl *Closer) applyMerged(ctx context.Context, s ledger.Versioned) error {
	other := s.ApplyFor != cl.Evidence.Message.ID && (s.Phase == runs.ApplyQueued || s.Phase == runs.Applying)
	if s.Phase == runs.Planned && !s.Applyable || s.Phase == runs.Applied || s.Phase == runs.Dropped || other {
		return cl.drop(ctx, s, s.Phase) // there is nothing to do, or it is being done
	}
	no, err := cl.Queuer.EnqueueOne(ctx, comment.Command{Verb: comment.Apply}, s)
	if err != nil {
		return err
	}
	if no == nil {
		return nil
	}
	if err := cl.Report.Reply(ctx, ledger.MergeAnswer, report.ApplyReply(s.Run, no)); err != nil {
		return err
	}
	return cl.drop(ctx, s, s.Phase)
}

// drop puts a run out of the way whose pull request is not open any more, and deletes
// what is kept of it. was is the phase that people see from then on. What is being
// applied, or waits for it, is left alone.
func (cl *Closer) drop(ctx context.Context, s ledger.Versioned, was runs.Phase) error {
	if was == runs.Dropped || !s.Phase.May(runs.Dropped) || was == runs.ApplyQueued || was == runs.Applying {
		return nil
	}
	var told []pipeline.Artifact
	if s.Phase == runs.ApplyQueued || s.Phase == runs.Applying {
		told = append(told, s.Result()) // why it ended just now
	}
	if err := ledger.Sweep(ctx, cl.Artifacts, s.Run, s.Begun, told...); err != nil {
		return err
	}
	s = s.To(runs.Dropped)
	s.Was, s.Merged, s.Swept = was, cl.Evidence.Pull.Merged, s.Begun
	s, err := cl.Ledger.Save(ctx, s)
	if errors.Is(err, pipeline.ErrConflict) {
		return nil // whoever moved it on finds the pull request closed
	}
	if err != nil {
		return err
	}
	return cl.Report.AtRest(ctx, s.Run)
}
