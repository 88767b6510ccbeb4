package gatefacts

import (
	"context"
	"slices"

	"github.com/lockstep-iac/lockstep/functions/pipeline/jobs"
	"github.com/lockstep-iac/lockstep/functions/pipeline/runs"
	"github.com/lockstep-iac/lockstep/functions/project"
	"github.com/lockstep-iac/lockstep/functions/project/endpoints"
)

// Hooks returns the hooks of a run for an event. They come from the same settings as the requirements: those at
// the tip of the base branch or, if the pull request is merged, at the merge.
func Hooks(ctx context.Context, e *Reader, on endpoints.HookEvent, r runs.Run) ([]endpoints.Hook, error) {
	in, err := e.requirements(ctx)
	if err != nil || in.settings == nil || len(in.settings.Hooks) == 0 {
		return nil, err
	}
	var known []project.Project
	if slices.ContainsFunc(in.settings.Hooks, func(h endpoints.Hook) bool { return h.Projects != nil }) {
		b, err := e.baseAt(ctx, in.sha)
		if err != nil {
			return nil, err
		}
		known = b.projects
	}
	return in.settings.HooksOf(on, project.Project{Name: r.Project, Dir: r.Spec.Dir, Workspace: r.Workspace}, known), nil
}

// Notifications returns the notifications about the result of a run. They come from the settings at the base
// commit of the plan. If those settings can no longer be read, there are none.
func Notifications(ctx context.Context, e *Reader, h jobs.Happened) (out []endpoints.Notification, err error) {
	s, _, err := e.Settings(ctx, h.Run.Spec.Base)
	if err != nil {
		_, err = FinalRefusal(err)
		return nil, err
	}
	if s == nil || len(s.Notifications) == 0 {
		return nil, nil
	}
	var known []project.Project
	if slices.ContainsFunc(s.Notifications, func(n endpoints.Notification) bool { return n.Projects != nil }) {
		b, err := e.baseAt(ctx, h.Run.Spec.Base)
		if err != nil {
			_, err = FinalRefusal(err)
			return nil, err
		}
		known = b.projects
	}
	for _, n := range s.Notifications {
		if s.Tells(n, h.Outcome, project.Project{Name: h.Run.Project, Dir: h.Run.Spec.Dir, Workspace: h.Run.Workspace}, known) {
			out = append(out, n)
		}
	}
	return out, nil
}
