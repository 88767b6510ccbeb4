package planrun

import (
	"context"
	"errors"
	"slices"

	"github.com/lockstep-iac/lockstep/functions/comment"
	"github.com/lockstep-iac/lockstep/functions/comment/reasons"
	"github.com/lockstep-iac/lockstep/functions/pipeline"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/ledger"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/report"
	"github.com/lockstep-iac/lockstep/functions/pipeline/runs"
)

// Push queues plans after an event that may have changed the head of a pull request.
func (qu *PlanQueuer) Push(ctx context.Context) error {
	if err := qu.Facts.Look(ctx); err != nil {
		return err
	}
	silent, err := qu.Report.Listen(ctx)
	if err != nil {
		return err
	}
	qu.silent = silent
	if !qu.Facts.Pull.Open {
		return qu.Report.Sync(ctx) // closed since the message was sent, and perhaps nobody else knows
	}
	if err := qu.Ledger.Reopen(ctx, qu.Facts.Message.Pull); err != nil {
		return err
	}
	if !qu.silent {
		if err := qu.Report.Await(ctx); err != nil {
			return err
		}
	}
	replies, err := qu.Enqueue(ctx, comment.Command{Verb: comment.Plan})
	if err != nil {
		return err
	}
	// The refusal of a fork is answered in a comment, once. All other refusals are shown in the status comment.
	if qu.Facts.Pull.Fork() {
		if err := qu.Report.Answer(ctx, ledger.PushAnswer, replies...); err != nil {
			return err
		}
	}
	return qu.Report.Sync(ctx)
}

// supersede ends queued and unfinished plans of earlier heads, for projects that the present head does not
// change. (A reopened pull request may change fewer projects than when it was closed.) For a plan of the
// present head, supersede sends another message, if the first message came while the pull request was closed
// and the plan was not dropped.
func (qu *PlanQueuer) supersede(ctx context.Context, found []selected) error {
	all, err := qu.Ledger.Runs(ctx, qu.Facts.Message.Pull)
	if err != nil {
		return err
	}
	for _, s := range all {
		planned := slices.ContainsFunc(found, func(p selected) bool { return p.Name == s.Project && p.Workspace == s.Workspace })
		again := s.Phase == runs.Dropped && s.Spec.Head == qu.Facts.Pull.Head.SHA
		left := s.Spec.Head != qu.Facts.Pull.Head.SHA
		under := left && (s.Phase == runs.Queued || s.Phase == runs.Planning)
		switch {
		case !planned && !left && s.Phase == runs.Queued && s.Asked.Missed: // the head may have a conflict, which the planner finds, too
			if err := qu.send(ctx, s.Run, "for", qu.Facts.Message.ID); err != nil {
				return err
			}
			continue
		case planned || !left && !again:
			continue
		case left && !under:
			if err := report.EndCheck(ctx, qu.Report, s.Run); err != nil {
				return err
			}
			continue
		}
		if err := qu.endLastPlan(ctx, s.Run); err != nil {
			return err
		}
		// A conflict means that the plan is finished by now. It is kept as the plan of an earlier head.
		if _, err := qu.Ledger.Save(ctx, s.To(runs.Superseded)); err != nil && !errors.Is(err, pipeline.ErrConflict) {
			return err
		}
	}
	return nil
}

// endLastPlan answers everybody who waits for a plan that will not be made, or for an apply of the last plan.
// It also completes the check of an earlier head. Call it before the phase of the run changes. So it is
// repeated if the process dies in between.
func (qu *PlanQueuer) endLastPlan(ctx context.Context, r runs.Run) error {
	left := r.Spec.Head != qu.Facts.Pull.Head.SHA
	if left {
		if err := report.EndCheck(ctx, qu.Report, r); err != nil {
			return err
		}
	}
	made := r.Phase != runs.Queued && r.Phase != runs.Planning
	if made {
		if err := qu.Report.Announce(ctx, r); err != nil {
			return err
		}
	}
	if !made || r.Waiting() { // no outcome completes its check
		if err := qu.leaveHead(ctx, r, left); err != nil {
			return err
		}
	}
	switch {
	case !made:
		return qu.Report.Reply(ctx, r.Asked.Answer, report.PlanNotMade(r, comment.PlanSuperseded{Project: r.Project}, reasons.FoundStale{})...)
	case r.Phase == runs.Planned || r.Phase == runs.PlanFailed || r.Waiting():
		return qu.Report.AnswerWaitingApply(ctx, r, reasons.FoundStale{})
	}
	return nil
}

// leaveHead writes the check of an unfinished run for an earlier head. It does nothing if left is false.
func (qu *PlanQueuer) leaveHead(ctx context.Context, r runs.Run, left bool) error {
	if !left {
		return nil
	}
	r.Phase = runs.Superseded
	return qu.Report.PutCheck(ctx, r)
}
