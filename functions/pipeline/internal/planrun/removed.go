package planrun

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"slices"

	"github.com/lockstep-iac/lockstep/functions/comment"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/ledger"
	"github.com/lockstep-iac/lockstep/functions/places"
	"github.com/lockstep-iac/lockstep/functions/project"
)

// removed notes in l the projects that the pull request removes. all are those of a checkout, files the
// changed ones; without deleted files and other settings nothing is removed, and the base branch is not
// asked for.
func (qu *PlanQueuer) removed(ctx context.Context, dir string, all []project.Project, files []string, complete bool, l *ledger.Look) error {
	if l.Problem != "" {
		return nil // projects may be missing because of it
	}
	if complete && !slices.ContainsFunc(files, func(name string) bool { return slices.Contains(project.SettingsFiles, name) }) {
		deleted, err := anyDeleted(dir, files)
		if err != nil || !deleted {
			return err
		}
	}
	gone, err := qu.Evidence.Removed(ctx, l.Base, all)
	if err != nil || len(gone) == 0 {
		return err
	}
	var list []comment.RemovedProject
	for _, p := range gone {
		x := comment.RemovedProject{Name: p.Name}
		if p.Nowhere == "" && !p.Place.Is(places.Local) {
			x.State = p.Place.String()
		}
		list = append(list, x)
	}
	l.Removed = qu.Report.Clean(comment.Removed(list))
	return nil
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
