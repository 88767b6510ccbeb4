package planrun

import (
	"context"
	"path"
	"slices"

	"github.com/lockstep-iac/lockstep/functions/pipeline/evidence"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/admission"
	"github.com/lockstep-iac/lockstep/functions/project"
)

// harmless reports whether a pull request of which nothing may be planned needs no plan either: it changes no file of a
// configuration, and none that the base branch's projects depend on. It reads the names of the changed files alone, and the
// base branch, so that a fork has no say in it.
func (qu *PlanQueuer) harmless(ctx context.Context, q admission.Request) (bool, error) {
	if q.Entry != admission.ByPush {
		return false, nil
	}
	files, complete, err := qu.Evidence.Hub.ChangedFiles(ctx, qu.Evidence.Pull.Number)
	if err != nil || !complete || slices.ContainsFunc(files, configures) {
		return false, err
	}
	dir, done, err := qu.Evidence.Checkout(ctx, qu.Evidence.Pull.Base.SHA)
	if err != nil {
		_, err = evidence.Impossible(err)
		return false, err
	}
	defer done()
	d, err := qu.Projects.Discover(ctx, dir)
	if err != nil || d.Problem != "" {
		_, err = evidence.Impossible(err)
		return false, err
	}
	return len(project.Touched(d.Projects, files, nil)) == 0, nil
}

// configures reports whether a file can be one of a configuration, or have settings, wherever it stands: there may be a
// project, at the head, that the base branch does not have.
func configures(file string) bool {
	return slices.Contains(project.SettingsFiles, path.Base(file)) || ends(file, configurations) || ends(file, []string{".tfvars", ".tfvars.json", ".hcl"})
}
