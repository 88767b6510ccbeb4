package dispatch

import (
	"context"
	"errors"

	"github.com/lockstep-iac/lockstep/functions/comment"
	"github.com/lockstep-iac/lockstep/functions/pipeline"
	"github.com/lockstep-iac/lockstep/functions/pipeline/runs"
	"github.com/lockstep-iac/lockstep/functions/project"
)

// closed settles a pull request that is not open any more: what waits for the merge is
// applied, what was saved is deleted, and what was applied but is not merged is spoken
// of.
func (t *task) closed(ctx context.Context) error {
	if err := t.look(ctx); err != nil {
		return err
	}
	if t.pull.Open {
		return nil // opened again since
	}
	if err := t.settleAll(ctx, t.pull.Merged); err != nil {
		return err
	}
	return t.tell(ctx)
}

// settleAll settles the runs of the pull request. apply says that those which wait for
// its merge are applied.
func (t *task) settleAll(ctx context.Context, apply bool) error {
	all, err := t.runs(ctx, t.message.Pull)
	if err != nil {
		return err
	}
	for _, s := range all {
		if err := t.leave(ctx, s.Run); err != nil {
			return err
		}
		if apply && s.ApplyOn == project.OnMerge && s.Phase != runs.Superseded {
			if err := t.applyMerged(ctx, s); err != nil {
				return err
			}
			continue
		}
		// What is being applied, or waits for it, settles itself when it comes to its end.
		if err := t.drop(ctx, s, s.Phase); err != nil {
			return err
		}
	}
	return nil
}

// leave settles the state that a run was applied to. An apply whose pull request was
// closed without a merge is spoken of: the base branch will never know of it.
func (t *task) leave(ctx context.Context, r runs.Run) error {
	last, err := t.settle(ctx, r, r.Pull.Number, true)
	if err != nil || last == nil || t.pull.Merged {
		return err
	}
	return t.reply(ctx, closeAsk, part(r.Target()+" "+last.Head, comment.Unfinished{Project: r.Project, By: last.By, Head: last.Head}))
}

// applyMerged asks for the apply of a plan now that its pull request is merged.
func (t *task) applyMerged(ctx context.Context, s stored) error {
	other := s.ApplyFor != t.message.ID && (s.Phase == runs.ApplyQueued || s.Phase == runs.Applying)
	if s.Phase == runs.Planned && !s.Applyable || s.Phase == runs.Applied || s.Phase == runs.Dropped || other {
		return t.drop(ctx, s, s.Phase) // there is nothing to do, or it is being done
	}
	no, err := t.queueApply(ctx, comment.Command{Verb: comment.Apply}, s)
	if err != nil {
		return err
	}
	if no == nil {
		return nil
	}
	if err := t.reply(ctx, mergeAsk, applyPart(s.Run, no)); err != nil {
		return err
	}
	return t.drop(ctx, s, s.Phase)
}

// drop puts a run out of the way whose pull request is not open any more, and deletes
// what is kept of it. was is the phase that people see from then on. What is being
// applied, or waits for it, is left alone.
func (t *task) drop(ctx context.Context, s stored, was runs.Phase) error {
	if was == runs.Dropped || !s.Phase.May(runs.Dropped) || was == runs.ApplyQueued || was == runs.Applying {
		return nil
	}
	var told []pipeline.Artifact
	if s.Phase == runs.ApplyQueued || s.Phase == runs.Applying {
		told = append(told, s.Result()) // why it ended just now
	}
	if err := t.sweep(ctx, s.Run, s.Begun, told...); err != nil {
		return err
	}
	s = s.to(runs.Dropped)
	s.Was, s.Merged, s.Swept = was, t.pull.Merged, s.Begun
	s, err := t.save(ctx, s)
	if errors.Is(err, pipeline.ErrConflict) {
		return nil // whoever moved it on finds the pull request closed
	}
	if err != nil {
		return err
	}
	return t.announced(ctx, s.Run)
}

// reopen undoes what closing has settled: what the pull request was applied to is not in
// the base branch, and others would revert it.
func (t *task) reopen(ctx context.Context) error {
	all, err := t.runs(ctx, t.message.Pull)
	if err != nil {
		return err
	}
	for _, s := range all {
		if _, err := t.settle(ctx, s.Run, s.Pull.Number, false); err != nil {
			return err
		}
	}
	return nil
}
