package planrun

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/lockstep-iac/lockstep/functions/comment/notes"
	"github.com/lockstep-iac/lockstep/functions/pipeline"
	"github.com/lockstep-iac/lockstep/functions/pipeline/evidence"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/ledger"
	"github.com/lockstep-iac/lockstep/functions/pipeline/runs"
	"github.com/lockstep-iac/lockstep/functions/places"
	"github.com/lockstep-iac/lockstep/functions/project"
	"github.com/lockstep-iac/lockstep/github"
)

// A selected project is one to be planned: of the head, or one that the pull request removes. Then base is the commit of
// the base branch that has it. beside is set for one that is named, and that the pull request does not touch, twin for one of
// two with one name: see [runs.Run.Twin].
type selected struct {
	project.Project
	base         string
	beside, twin bool
}

// ofHead are projects of the head.
func ofHead(all []project.Project) (out []selected) {
	for _, p := range all {
		out = append(out, selected{Project: p})
	}
	return out
}

// twins marks the projects whose name is that of another one of all, in another workspace.
func twins(some, all []selected) {
	for i, p := range some {
		some[i].twin = slices.ContainsFunc(all, func(q selected) bool { return q.Name == p.Name && q.Workspace != p.Workspace })
	}
}

// label names a project for people.
func (p selected) label() string {
	return runs.Label(runs.Run{Project: p.Name, Workspace: p.Workspace, Twin: p.twin})
}

// removed returns the projects that the pull request removes, as far as comments may apply them, and notes all of them in l:
// what merges alone may apply, nobody destroys by a pull request that is not merged. base are the settings of the base branch, all are those of a checkout, files the
// changed ones; without deleted files, other settings, and changed configurations that
// are no projects at the head, nothing is removed, and the base branch is not asked for.
func (qu *PlanQueuer) removed(ctx context.Context, dir string, base *project.Settings, all []project.Project, files []string, complete bool, l *ledger.Look) ([]selected, error) {
	if l.Problem != "" {
		return nil, nil // projects may be missing because of it
	}
	if qu.Evidence.Pull.Merged {
		return qu.removedBefore(ctx, all, files, complete, l)
	}
	if complete && !changesSettings(files) && !changesOthers(files, all) {
		deleted, err := anyDeleted(dir, files)
		if err != nil || !deleted {
			return nil, err
		}
	}
	gone, err := qu.Evidence.Removed(ctx, l.Base, all)
	if err != nil {
		return nil, err
	}
	if err := qu.removedTwice(ctx, gone, l); err != nil || len(gone) == 0 {
		return nil, err
	}
	return qu.planned(base, gone, all, l.Base, l), nil
}

// removedTwice supersedes the runs of the head for removed projects that the base branch has removed, too, since they were planned.
// gone are those that it still has.
func (qu *PlanQueuer) removedTwice(ctx context.Context, gone []project.Project, l *ledger.Look) error {
	known, err := qu.Ledger.Runs(ctx, qu.Evidence.Message.Pull)
	if err != nil {
		return err
	}
	for _, s := range known {
		still := slices.ContainsFunc(gone, func(p project.Project) bool { return p.Name == s.Project && p.Workspace == s.Workspace })
		if s.Head != l.Head || !s.Removed || still {
			continue
		}
		_, has, known, err := evidence.Has(ctx, qu.Evidence, l.Base, s.Run)
		if err != nil {
			return err
		}
		if has || !known {
			continue
		}
		if err := Gone(ctx, qu.Report, qu.Ledger, s); err != nil && !errors.Is(err, pipeline.ErrConflict) {
			return err
		}
	}
	return nil
}

// planned returns removed projects, which a commit of the base branch has, as far as comments may apply them, and notes all of
// them in l. all are those of the head.
func (qu *PlanQueuer) planned(base *project.Settings, gone, all []project.Project, at string, l *ledger.Look) (out []selected) {
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
		l.Removes = append(l.Removes, runs.Run{Project: p.Name, Workspace: p.Workspace}.Target())
	}
	l.Removed = qu.Report.Clean(notes.Removed(list))
	return out
}

// removedBefore returns the projects that the pull request has removed, now that it is merged and the tip of the base branch
// does not have them any more: those that were planned before, and those that were not, since nobody had looked at its head.
// The latter are those of an earlier commit of the base branch whose files it changes, and that its head was not seen to have.
func (qu *PlanQueuer) removedBefore(ctx context.Context, all []project.Project, files []string, complete bool, l *ledger.Look) (out []selected, err error) {
	known, err := qu.Ledger.Runs(ctx, qu.Evidence.Message.Pull)
	if err != nil {
		return nil, err
	}
	for _, s := range known {
		if !s.Removed || s.Phase == runs.Superseded || s.BaseRef != l.Into {
			continue // or it was planned while the pull request went into another branch
		}
		p, ok, err := qu.Evidence.RemovedOf(ctx, s.Run)
		if err != nil {
			return nil, err
		}
		if ok && len(project.Removed([]project.Project{p}, all)) > 0 {
			out = append(out, selected{Project: p, base: s.Base})
		}
	}
	was := qu.Evidence.Pull.Base.SHA
	gone, err := qu.Evidence.Removed(ctx, was, all)
	if errors.Is(err, github.ErrNotFound) {
		return out, nil // the base branch was written anew since, and nobody knows its former projects
	}
	if err != nil {
		return nil, err
	}
	gone = slices.DeleteFunc(gone, func(p project.Project) bool {
		mine := !complete || changesSettings(files) || len(project.Touched([]project.Project{p}, files, nil)) > 0
		has := func(s ledger.Versioned) bool {
			return s.Project == p.Name && s.Workspace == p.Workspace && s.Head == l.Head && !s.Removed
		}
		return !mine || slices.ContainsFunc(known, has) || slices.ContainsFunc(out, func(x selected) bool { return x.Name == p.Name && x.Workspace == p.Workspace })
	})
	if len(gone) == 0 {
		return out, nil
	}
	base, _, err := qu.Evidence.Settings(ctx, was) // those of the tip do not have them any more
	return append(out, qu.planned(base, gone, all, was, l)...), err
}

// changesSettings reports whether a file with settings is among the changed ones.
func changesSettings(files []string) bool {
	return slices.ContainsFunc(files, func(name string) bool { return slices.Contains(project.SettingsFiles, name) })
}

// configurations are the endings of files of a configuration.
var configurations = []string{".tf", ".tf.json", ".tofu", ".tofu.json"}

func ends(name string, endings []string) bool {
	return slices.ContainsFunc(endings, func(end string) bool { return strings.HasSuffix(name, end) })
}

// changesOthers reports whether a changed file is one of a configuration in a directory that has no project: it may have lost its
// backend block, and have been one by that.
func changesOthers(files []string, all []project.Project) bool {
	dirs := map[string]bool{}
	for _, p := range all {
		dirs[p.Dir] = true
	}
	return slices.ContainsFunc(files, func(name string) bool { return ends(name, configurations) && !dirs[path.Dir(name)] })
}

// anyDeleted reports whether a checkout lacks one of the files. The names are GitHub's: no link leads out of the
// checkout.
func anyDeleted(dir string, files []string) (bool, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return false, err
	}
	defer root.Close()
	return slices.ContainsFunc(files, func(name string) bool {
		_, err := root.Lstat(name)
		return errors.Is(err, fs.ErrNotExist)
	}), nil
}
