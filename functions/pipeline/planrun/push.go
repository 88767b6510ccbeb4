package planrun

import (
	"context"
	"errors"
	"slices"

	"github.com/lockstep-iac/lockstep/functions/comment"
	"github.com/lockstep-iac/lockstep/functions/pipeline"
	"github.com/lockstep-iac/lockstep/functions/pipeline/ledger"
	"github.com/lockstep-iac/lockstep/functions/pipeline/report"
	"github.com/lockstep-iac/lockstep/functions/pipeline/runs"
	"github.com/lockstep-iac/lockstep/functions/project"
)

// Push asks for plans because a pull request has a new head.
func (qu *PlanQueuer) Push(ctx context.Context) error {
	if err := qu.Evidence.Look(ctx); err != nil {
		return err
	}
	if !qu.Evidence.Pull.Open {
		return nil // an old message
	}
	if err := qu.Ledger.Reopen(ctx, qu.Evidence.Message.Pull); err != nil {
		return err
	}
	replies, err := qu.Enqueue(ctx, comment.Command{Verb: comment.Plan})
	if err != nil {
		return err
	}
	// A fork is spoken of once; what else there is to say is in the status.
	if qu.Evidence.Pull.Fork() {
		if err := qu.Report.Answer(ctx, ledger.PushAnswer, replies...); err != nil {
			return err
		}
	}
	return qu.Report.Sync(ctx)
}

// supersede gives up the plans that wait, or are being made, of heads that are not the
// present one, of projects that this one does not touch.
func (qu *PlanQueuer) supersede(ctx context.Context, found []project.Project) error {
	all, err := qu.Ledger.Runs(ctx, qu.Evidence.Message.Pull)
	if err != nil {
		return err
	}
	for _, s := range all {
		planned := slices.ContainsFunc(found, func(p project.Project) bool { return p.Name == s.Project && p.Workspace == s.Workspace })
		if planned || s.Head == qu.Evidence.Pull.Head.SHA || s.Phase != runs.Queued && s.Phase != runs.Planning {
			continue
		}
		if err := qu.abort(ctx, s.Run); err != nil {
			return err
		}
		// If it is planned by now, it is a plan of another head.
		if _, err := qu.Ledger.Save(ctx, s.To(runs.Superseded)); err != nil && !errors.Is(err, pipeline.ErrConflict) {
			return err
		}
	}
	return nil
}

// abort tells those who wait for a plan that it will not be there. It comes before the
// run moves on, so that it is done again if we die in between.
func (qu *PlanQueuer) abort(ctx context.Context, r runs.Run) error {
	if r.Phase != runs.Queued && r.Phase != runs.Planning {
		return nil
	}
	if r.Head != qu.Evidence.Pull.Head.SHA {
		old := r
		old.Phase = runs.Superseded
		if err := qu.Report.PutCheck(ctx, old); err != nil {
			return err
		}
	}
	return qu.Report.Reply(ctx, r.Answer, report.PlanReply(r, comment.PlanSuperseded{Project: r.Project}))
}
