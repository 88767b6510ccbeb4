package planrun

import (
	"context"
	"errors"
	"slices"

	"github.com/lockstep-iac/lockstep/functions/comment/notes"
	"github.com/lockstep-iac/lockstep/functions/pipeline"
	"github.com/lockstep-iac/lockstep/functions/pipeline/gatefacts"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/ledger"
	"github.com/lockstep-iac/lockstep/functions/pipeline/runs"
	"github.com/lockstep-iac/lockstep/functions/places"
	"github.com/lockstep-iac/lockstep/functions/project"
	"github.com/lockstep-iac/lockstep/github"
)

// A selected is a project to plan: a project of the head, or one that the pull request removes.
//   - base is set for a removed project: the commit of the base branch that has it.
//   - beside is set if a command names the project, and the pull request does not change it.
//   - twin is set if another project has the same name: see [runs.Spec].
type selected struct {
	project.Project
	base         string
	beside, twin bool
	test         bool
}

// ofHead returns projects of the head as selected.
func ofHead(all []project.Project) (out []selected) {
	for _, p := range all {
		out = append(out, selected{Project: p})
	}
	return out
}

// twins marks each project in some for which all has a project with the same name and another workspace.
func twins(some, all []selected) {
	for i, p := range some {
		some[i].twin = slices.ContainsFunc(all, func(q selected) bool { return q.Name == p.Name && q.Workspace != p.Workspace })
	}
}

// label returns the name of the project for people.
func (p selected) label() string {
	return runs.Label(runs.Run{ID: runs.ID{Project: p.Name, Workspace: p.Workspace}, Spec: runs.Spec{Twin: p.twin}})
}

// removed returns those projects that the pull request removes and that comments may apply. It notes all
// removed projects in l. If only merges may apply, it returns none, because an open pull request must not
// destroy anything. base are the settings of the base branch, all are the projects in the checkout, and t says
// what differs there.
func (qu *PlanQueuer) removed(ctx context.Context, base *project.Settings, all []project.Project, t gatefacts.Touch, l *ledger.Look) ([]selected, error) {
	if l.Problem != "" {
		return nil, nil // projects may be missing because of it
	}
	if qu.Facts.Pull.Merged {
		return qu.removedByMerge(ctx, all, t, l)
	}
	gone := project.Removed(t.Had, all)
	if err := qu.supersedeRemovedByBase(ctx, gone, l); err != nil || len(gone) == 0 {
		return nil, err
	}
	return qu.removable(base, gone, all, l.Base, l), nil
}

// supersedeRemovedByBase handles runs of the head for removed projects that the base branch has also removed
// since the plan. It moves them to the phase Superseded. gone are the removed projects that the base branch
// still has.
func (qu *PlanQueuer) supersedeRemovedByBase(ctx context.Context, gone []project.Project, l *ledger.Look) error {
	known, err := qu.Ledger.Runs(ctx, qu.Facts.Message.Pull)
	if err != nil {
		return err
	}
	for _, s := range known {
		still := slices.ContainsFunc(gone, func(p project.Project) bool { return p.Name == s.Project && p.Workspace == s.Workspace })
		if s.Spec.Head != l.Head || !s.Spec.Removed || still {
			continue
		}
		_, has, known, err := gatefacts.ProjectAt(ctx, qu.Facts, l.Base, s.Run)
		if err != nil {
			return err
		}
		if has || !known {
			continue
		}
		if err := SupersedeRemoved(ctx, qu.Report, qu.Ledger, s); err != nil && !errors.Is(err, pipeline.ErrConflict) {
			return err
		}
	}
	return nil
}

// removable returns those removed projects in gone that comments may apply. It notes all removed projects in l.
// at is a commit of the base branch that has them. all are the projects of the head.
func (qu *PlanQueuer) removable(base *project.Settings, gone, all []project.Project, at string, l *ledger.Look) (out []selected) {
	var list []notes.RemovedProject
	for _, p := range gone {
		twin := slices.ContainsFunc(all, func(x project.Project) bool { return x.Name == p.Name })
		x := notes.RemovedProject{Name: selected{Project: p, twin: twin}.label()}
		if p.Nowhere == "" && !p.Place.Is(places.Local) {
			x.State = p.Place.String()
		}
		if x.ByMerge = base.ApplyOn(p) == project.OnMerge; !x.ByMerge {
			out = append(out, selected{Project: p, base: at})
		}
		list = append(list, x)
		l.Removes = append(l.Removes, runs.ID{Project: p.Name, Workspace: p.Workspace}.Target())
	}
	l.Removed = qu.Report.Clean(notes.Removed(list))
	return out
}

// removedByMerge returns the projects that a merged pull request has removed, and that the tip of the base
// branch does not have any more. They are the removed projects that were planned before the merge. They also
// include projects without a run at the merged head, for example because the head was never planned.
func (qu *PlanQueuer) removedByMerge(ctx context.Context, all []project.Project, t gatefacts.Touch, l *ledger.Look) (out []selected, err error) {
	known, err := qu.Ledger.Runs(ctx, qu.Facts.Message.Pull)
	if err != nil {
		return nil, err
	}
	for _, s := range known {
		if !s.Spec.Removed || s.Phase == runs.Superseded || s.Spec.BaseRef != l.Into {
			continue // or it was planned while the pull request had another base branch
		}
		p, ok, err := qu.Facts.RemovedOf(ctx, s.Run)
		if err != nil {
			return nil, err
		}
		if ok && len(project.Removed([]project.Project{p}, all)) > 0 {
			out = append(out, selected{Project: p, base: s.Spec.Base})
		}
	}
	gone, err := qu.Facts.Removed(ctx, t.Was, all)
	if errors.Is(err, github.ErrNotFound) {
		return out, nil // the base branch was rewritten since, and nobody knows its former projects
	}
	if err != nil {
		return nil, err
	}
	gone = slices.DeleteFunc(project.Removed(gone, t.Has), func(p project.Project) bool {
		has := func(s ledger.Versioned) bool {
			return s.Project == p.Name && s.Workspace == p.Workspace && s.Spec.Head == l.Head && !s.Spec.Removed
		}
		return slices.ContainsFunc(known, has) || slices.ContainsFunc(out, func(x selected) bool { return x.Name == p.Name && x.Workspace == p.Workspace })
	})
	if len(gone) == 0 {
		return out, nil
	}
	base, _, err := qu.Facts.Settings(ctx, t.Was) // the settings at the tip do not have these projects any more
	return append(out, qu.removable(base, gone, all, t.Was, l)...), err
}
