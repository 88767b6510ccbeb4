package gatefacts

import (
	"context"

	"github.com/lockstep-iac/lockstep/functions/pipeline/runs"
	"github.com/lockstep-iac/lockstep/functions/project"
)

// shadowedBy reports whether the project of a run is in shadow mode. s are the settings at the commit sha of the base branch.
// If any project is, that needs a checkout of the commit, once in each process.
func shadowedBy(ctx context.Context, e *Reader, sha string, s *project.Settings, r runs.Run) (bool, error) {
	return Shadows(ctx, e, sha, s, project.Project{Name: r.Project, Dir: r.Spec.Dir, Workspace: r.Workspace})
}

// Shadows reports whether a project of a pull request is in shadow mode. s are the settings at the commit sha of the base
// branch.
func Shadows(ctx context.Context, e *Reader, sha string, s *project.Settings, p project.Project) (bool, error) {
	if !s.ShadowsSome() {
		return false, nil
	}
	b, err := e.baseAt(ctx, sha)
	return err == nil && s.Shadows(p, b.projects), err
}

// SettingsNow returns the settings of the present base branch, which the gate also uses. They are nil if there are none.
func SettingsNow(ctx context.Context, e *Reader) (*project.Settings, error) {
	in, err := e.requirements(ctx)
	if err != nil {
		return nil, err
	}
	return in.settings, nil
}
