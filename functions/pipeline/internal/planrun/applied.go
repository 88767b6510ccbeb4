package planrun

import (
	"context"
	"slices"

	"github.com/lockstep-iac/lockstep/functions/comment/notes"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/ledger"
	"github.com/lockstep-iac/lockstep/functions/pipeline/runs"
	"github.com/lockstep-iac/lockstep/functions/project"
)

// addApplied adds projects that the pull request no longer touches, but to which it was applied. A push has
// reverted or replaced the change since. Until such a project is planned and applied at the present head, its
// state contains a change that neither the head nor the base branch contains.
//
// Once somebody asks for plans, addApplied also adds projects that the pull request touched when its head was
// planned. The base branch has changed since, and their plans are out of date. all are the projects of the
// checkout, and gone are those that the pull request removes. If a project does not exist any more in any
// commit, l gets a note.
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
