package evidence

import (
	"context"
	"slices"

	"github.com/lockstep-iac/lockstep/functions/pipeline/runs"
	"github.com/lockstep-iac/lockstep/functions/project"
	"github.com/lockstep-iac/lockstep/functions/project/hooks"
)

// Hooks returns the hooks of an event for a run, by the settings that requirements are read from: at the tip of the base
// branch, or of a merged pull request at its merge.
func Hooks(ctx context.Context, e *Reader, on hooks.Event, r runs.Run) ([]hooks.Hook, error) {
	in, err := e.requirements(ctx)
	if err != nil || in.settings == nil || len(in.settings.Hooks) == 0 {
		return nil, err
	}
	var known []project.Project
	if slices.ContainsFunc(in.settings.Hooks, func(h hooks.Hook) bool { return h.Projects != nil }) {
		b, err := e.baseAt(ctx, in.sha)
		if err != nil {
			return nil, err
		}
		known = b.projects
	}
	return in.settings.HooksOf(on, project.Project{Name: r.Project, Dir: r.Dir, Workspace: r.Workspace}, known), nil
}
