package planrun

import (
	"context"
	"errors"
	"slices"

	"github.com/lockstep-iac/lockstep/functions/comment"
	"github.com/lockstep-iac/lockstep/functions/comment/reasons"
	"github.com/lockstep-iac/lockstep/functions/pipeline"
	"github.com/lockstep-iac/lockstep/functions/pipeline/gatefacts"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/admission"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/ledger"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/report"
	"github.com/lockstep-iac/lockstep/functions/pipeline/runs"
	"github.com/lockstep-iac/lockstep/functions/project"
)

// supersedeRemoved moves runs of the head whose projects the base branch has removed since the plan to the
// phase Superseded, because nobody can plan or apply them any more. all are the projects of the trial merge. A
// renamed project is not removed: see [Renamed]. n is the number of removed projects that the pull request
// changes.
func (qu *PlanQueuer) supersedeRemoved(ctx context.Context, all []project.Project, l *ledger.Look) (n int, err error) {
	if l.Problem != "" {
		return 0, nil // projects may be missing because of it
	}
	known, err := qu.Ledger.Runs(ctx, qu.Facts.Message.Pull)
	if err != nil {
		return 0, err
	}
	for _, s := range known {
		if s.Spec.Head != l.Head || s.Spec.Removed || slices.ContainsFunc(all, func(p project.Project) bool { return p.Name == s.Project && p.Workspace == s.Workspace }) {
			continue
		}
		if p, ok := ledger.Successor(s.Run, known, all); ok {
			err = Renamed(ctx, qu.Report, qu.Ledger, s, p.Name)
		} else {
			if _, ok := runs.RemovedByBase(s.Run); (ok || s.End.Fate == runs.Gone) && !s.Spec.Beside {
				n++
			}
			err = SupersedeRemoved(ctx, qu.Report, qu.Ledger, s)
		}
		if err != nil && !errors.Is(err, pipeline.ErrConflict) {
			return 0, err
		}
	}
	return n, nil
}

// SupersedeRemoved moves a run whose project the base branch has removed to the phase Superseded, unless the
// run must stay as it is: see [runs.RemovedByBase]. It writes the answer and the check before the record. Once
// the record is written, no later message would write them.
func SupersedeRemoved(ctx context.Context, rp *report.Reporter, ld ledger.Ledger, s ledger.Versioned) error {
	r, ok := runs.RemovedByBase(s.Run)
	if !ok {
		return nil
	}
	if err := rp.Announce(ctx, s.Run); err != nil {
		return err
	}
	if err := rp.AnswerWaitingApply(ctx, s.Run, reasons.RemovedByBase{Projects: []string{s.Project}}); err != nil {
		return err
	}
	if err := rp.PutCheck(ctx, r); err != nil {
		return err
	}
	if !rp.Facts.Pull.Open { // for an open pull request the list keeps it: the project may come back
		if err := ld.UnlistPlan(ctx, r); err != nil {
			return err
		}
	}
	s.Run = r
	_, err := ld.Save(ctx, s)
	return err
}

// removedReply returns the refusal of a command that selects only projects which the base branch has removed.
// It returns nil for any other command.
func (qu *PlanQueuer) removedReply(ctx context.Context, c comment.Command, head string) (comment.Reply, error) {
	known, err := qu.Ledger.Runs(ctx, qu.Facts.Message.Pull)
	if err != nil {
		return nil, err
	}
	if no := gatefacts.WhyRemovedByBase(c, known, head); no != nil {
		return gatefacts.Refused(c, "", admission.Refusal(no)), nil
	}
	return nil, nil
}
