package planrun

import (
	"context"
	"slices"

	"github.com/lockstep-iac/lockstep/functions/comment/notes"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/ledger"
	"github.com/lockstep-iac/lockstep/functions/pipeline/runs"
	"github.com/lockstep-iac/lockstep/functions/project"
)

// addApplied adds projects to which the pull request was applied, but which it no longer changes, because a
// push has reverted or replaced the change. The state of such a project contains a change that is neither in
// the head nor on the base branch. So it must be planned and applied at the present head.
//
// If somebody requests plans, addApplied also adds projects that the pull request changed when its head was
// planned, and that it no longer changes because the base branch has changed: their plans are out of date. all
// are the projects in the checkout, and gone are those that the pull request removes. If a project no longer
// exists in any commit, l gets a note.
func (qu *PlanQueuer) addApplied(ctx context.Context, touched, all []project.Project, gone []selected, l *ledger.Look) ([]project.Project, error) {
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
		unfinished := last.Unfinished(s.Pull.Number, l.Head) && last.Head != l.Head // otherwise the run of that apply belongs to the head
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
