package planrun

import (
	"context"
	"slices"

	"github.com/lockstep-iac/lockstep/functions/comment/notes"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/ledger"
	"github.com/lockstep-iac/lockstep/functions/pipeline/runs"
	"github.com/lockstep-iac/lockstep/functions/project"
)

// applied adds to the projects that the pull request touches those that it was applied to before and touches no more, since it
// was reverted, or replaced by a push: until its head is planned and applied they have what neither it nor the base branch has.
// Once somebody asks for plans, those count, too, that it touched when its head was planned: the base branch has changed, and their plans
// are out of date. all are those of the checkout, gone those that it removes; one that is no project any more is noted in l, if no commit has it.
func (qu *PlanQueuer) applied(ctx context.Context, touched, all []project.Project, gone []selected, l *ledger.Look) ([]project.Project, error) {
	known, err := qu.Ledger.Runs(ctx, qu.Facts.Message.Pull)
	if err != nil {
		return nil, err
	}
	for _, s := range known {
		is := func(p project.Project) bool {
			return runs.ID{Project: p.Name, Workspace: p.Workspace}.Target() == s.Target()
		}
		if slices.ContainsFunc(touched, is) || slices.ContainsFunc(gone, func(p selected) bool { return is(p.Project) }) {
			continue
		}
		last, err := qu.Ledger.LastApply(ctx, s.Run)
		if err != nil {
			return nil, err
		}
		unfinished := last.Unfinished(s.Pull.Number, l.Head) && last.Head != l.Head // else the run of that apply is one of the head
		asked := qu.Facts.Message.Actor != "" && s.Spec.Head == l.Head && s.Phase.Open() && !s.Spec.Beside && !s.Spec.Removed
		if !unfinished && !asked {
			continue
		}
		if i := slices.IndexFunc(all, is); i >= 0 {
			touched = append(slices.Clip(touched), all[i])
		} else if !unfinished {
			continue
		} else if !s.Spec.Removed && l.Problem == "" {
			l.Notes = append(l.Notes, notes.AppliedAndGone(s.Project, last.Head))
		}
	}
	return touched, nil
}
