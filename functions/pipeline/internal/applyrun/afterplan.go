package applyrun

import (
	"context"

	"github.com/lockstep-iac/lockstep/functions/comment"
	"github.com/lockstep-iac/lockstep/functions/comment/reasons"
	"github.com/lockstep-iac/lockstep/functions/pipeline/gatefacts"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/admission"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/ledger"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/planrun"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/report"
	"github.com/lockstep-iac/lockstep/functions/pipeline/runs"
)

// ApplyAfterPlan queues an apply that a comment has requested together with its plan. It is called when the
// plan is made. The queued apply names the plan by its hash. If the gate refuses it, ApplyAfterPlan answers
// with the reasons. It can be repeated.
func (qu *ApplyQueuer) ApplyAfterPlan(ctx context.Context, r runs.Run) error {
	s, err := qu.Ledger.Read(ctx, r.Key())
	if err != nil || s.Asked.Attempt != r.Asked.Attempt {
		return err
	}
	made := s.Asked.ThenApply == s.Asked.Try+1 && s.Asked.Waits == nil && (s.Phase == runs.Planned || s.Phase == runs.PlanFailed)
	queued := s.Phase == runs.ApplyQueued && s.Asked.ApplyFor == qu.Facts.Message.ID // by an earlier attempt
	waits := s.Waiting() && s.Asked.Waits.For == qu.Facts.Message.ID
	if !made && !queued && !waits {
		return nil
	}
	if err := qu.Facts.Look(ctx); err != nil {
		return err
	}
	no, err := qu.enqueueOne(ctx, comment.Command{Verb: comment.Apply, Plan: s.Plan.Hash}, s, true)
	if err != nil || no == nil {
		return err
	}
	if refused, is := no.(comment.Refused); is {
		refused.Command.Plan = "" // nobody has typed it
		no = refused
	}
	s.Asked.Try++ // the number is used up
	if err := qu.Report.Reply(ctx, s.Asked.Answer, report.ApplyReply(s.Run, no)); err != nil {
		return err
	}
	if s, err = qu.Ledger.Save(ctx, s); err != nil {
		return err
	}
	return qu.Report.AtRest(ctx, s.Run)
}

// applyWithPlan answers a request for an apply, if the same comment also requests the plan. ok is false if it
// does not. Usually the answer is that the apply waits for the plan. The apply is refused if the head is newer
// than the comment, or for a reason from [planrun.WhyNotAppliedNext].
func (qu *ApplyQueuer) applyWithPlan(ctx context.Context, c comment.Command, s ledger.Versioned) (no comment.Reply, ok bool, err error) {
	switch {
	case s.Asked.PlanFor != qu.Facts.Message.ID || c.Plan != "" || s.Phase.UnderWay() && s.Asked.ThenApply == 0:
		return nil, false, nil
	case s.Asked.ThenApply == 0:
		var why reasons.Reason = reasons.HeadIsNewer{Project: s.Project}
		if no := planrun.WhyNotAppliedNext(qu.Facts.Message.Lines, s.Asked.PlanLine, s.Run); no != nil {
			why = no
		}
		return gatefacts.Refused(c, runs.Label(s.Run), admission.Refusal(why)), true, nil
	case s.Asked.Try >= s.Asked.ThenApply || s.Waiting():
		return nil, true, nil // queued, or answered
	}
	return nil, true, qu.Report.Reply(ctx, s.Asked.Answer, report.NextApply(s.Run, comment.Pending{Project: runs.Label(s.Run), Verb: comment.Apply, AfterPlan: true}))
}
