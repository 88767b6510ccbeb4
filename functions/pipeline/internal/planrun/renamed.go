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
	"github.com/lockstep-iac/lockstep/functions/project"
)

// Renamed records that the base branch has renamed the project of a run, unless the run must stay as it is: see
// [runs.RenamedByBase]. It answers the person who waits for the run's apply. It writes the answer and the check
// before the record. Once the record is written, no later message would write them.
func Renamed(ctx context.Context, rp *report.Reporter, ld ledger.Ledger, s ledger.Versioned, name string) error {
	r, ok := runs.RenamedByBase(s.Run, name)
	if !ok {
		return nil
	}
	if r.Phase != s.Phase {
		if err := rp.Announce(ctx, s.Run); err != nil {
			return err
		}
		if err := rp.AnswerWaitingApply(ctx, s.Run, reasons.RenamedByBase{Project: s.Project, Name: name, Verb: comment.Plan}); err != nil {
			return err
		}
		if err := rp.PutCheck(ctx, r); err != nil {
			return err
		}
	}
	s.Run = r
	_, err := ld.Save(ctx, s)
	return err
}

// supersedeRenamed handles runs of a head with former names of projects. It moves such a run to the phase
// Superseded, if the project is planned for the same head under its new name.
func (qu *PlanQueuer) supersedeRenamed(ctx context.Context, head string) error {
	known, err := qu.Ledger.Runs(ctx, qu.Facts.Message.Pull)
	if err != nil {
		return err
	}
	for _, s := range known {
		r, ok := runs.SupersededByRename(s.Run)
		planned := func(x ledger.Versioned) bool {
			return x.Spec.Head == head && runs.IsFormerNameOf(s.Run, project.Project{Name: x.Project, Workspace: x.Workspace}) && x.Phase != runs.Superseded && x.Phase != runs.Dropped
		}
		if !ok || s.Spec.Head != head || !slices.ContainsFunc(known, planned) {
			continue
		}
		if err := qu.Report.PutCheck(ctx, r); err != nil {
			return err
		}
		if err := qu.Ledger.UnlistPlan(ctx, r); err != nil {
			return err
		}
		s.Run = r
		if _, err := qu.Ledger.Save(ctx, s); err != nil && !errors.Is(err, pipeline.ErrConflict) {
			return err
		}
	}
	return nil
}
