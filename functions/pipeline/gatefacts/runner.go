package gatefacts

import (
	"context"
	"fmt"
	"slices"

	"github.com/lockstep-iac/lockstep/functions/pipeline/runs"
	"github.com/lockstep-iac/lockstep/functions/project"
	"github.com/lockstep-iac/lockstep/functions/project/environments"
)

// ImageOf returns the image of the builds that make the plans of a run, as the base branch names it; "" if no build makes
// them.
func ImageOf(ctx context.Context, e *Reader, r runs.Run) (string, error) {
	s, _, err := e.Settings(ctx, r.Spec.Base)
	if err != nil || !s.HasImages() {
		return "", err
	}
	b, err := e.baseAt(ctx, r.Spec.Base)
	if err != nil {
		return "", err
	}
	p := project.Project{Name: r.Project, Dir: r.Spec.Dir, Workspace: r.Workspace}
	return s.Runner(p, project.Grantee{Branch: e.Pull.Base.Ref, Base: b.projects, Deployment: e.Deployment}).Image, nil
}

// noRunner returns the problem if the project's environment names a runner that this deployment does not have.
// A plan reports it, long before an apply. An apply that was begun is not refused: it continues without the
// runner.
func noRunner(have []string, r runs.Run, g environments.Granted) string {
	at := g.Runner()
	if at.Name == "" || slices.Contains(have, at.Name) || r.Phase.UnderWay() {
		return ""
	}
	return fmt.Sprintf("the environment %q has runner = %q (%s on the base branch), and this deployment of Lockstep has no such runner, as none has with SubnetIds or ProviderLayerArn: remove the line there, and an apply that is long goes on from function to function", g.Name(), at.Name, at.At)
}
