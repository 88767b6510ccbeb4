package gatefacts

import (
	"context"
	"fmt"

	"github.com/lockstep-iac/lockstep/functions/pipeline/runs"
	"github.com/lockstep-iac/lockstep/functions/project"
)

// shadowedBy reports whether the project of a run is in shadow mode. s are the settings at the commit sha of the base
// branch. If any project is in shadow mode, the answer needs a checkout of the commit, once in each process.
func shadowedBy(ctx context.Context, e *Reader, sha string, s *project.Settings, r runs.Run) (bool, error) {
	p := project.Project{Name: r.Project, Dir: r.Spec.Dir, Workspace: r.Workspace}
	is, err := Shadows(ctx, e, sha, s, p)
	if err != nil || is || !r.Spec.Removed {
		return is, err
	}
	return ShadowedAt(ctx, e, r.Spec.Base, p)
}

// ShadowedAt reports whether a project that a pull request removes was in shadow mode at a commit of the base branch that
// had the project. After the merge, the base branch has neither the project nor its mode.
func ShadowedAt(ctx context.Context, e *Reader, sha string, p project.Project) (bool, error) {
	s, _, err := e.Settings(ctx, sha)
	if err != nil {
		return false, err
	}
	return Shadows(ctx, e, sha, s, p)
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

// SettingsNow returns the settings of the present base branch. They are nil if the branch has no settings, or if Lockstep
// does not plan for the branch. If the reader reads the requirements next, it uses the same commit.
func SettingsNow(ctx context.Context, e *Reader) (*project.Settings, error) {
	if planned, err := BasePlanned(ctx, e); err != nil || !planned {
		return nil, err
	}
	tip, err := e.Hub.Tip(ctx, e.Pull.Base.Ref)
	if err != nil {
		return nil, fmt.Errorf("look at the base branch: %w", err)
	}
	e.tip = tipOf{e.Pull.Base.Ref, tip}
	s, _, err := e.Settings(ctx, tip)
	return s, err
}

// A tipOf is the commit of a branch that was just read from GitHub.
type tipOf struct{ branch, sha string }

// take returns the commit and forgets it, so it returns "" the next time. It returns "" if the commit is
// of another branch.
func (t *tipOf) take(branch string) (sha string) {
	if t.branch == branch {
		sha = t.sha
	}
	*t = tipOf{}
	return sha
}
