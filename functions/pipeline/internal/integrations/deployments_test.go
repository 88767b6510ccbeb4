package integrations

import (
	"testing"

	"github.com/lockstep-iac/lockstep/functions/pipeline/runs"
	"github.com/lockstep-iac/lockstep/github"
)

// TestDeploymentDue is the table of phases, and the state that GitHub knows.
func TestDeploymentDue(t *testing.T) {
	t.Parallel()
	running := last{2, github.DeploymentRuns}
	for name, c := range map[string]struct {
		phase runs.Phase
		told  last
		want  github.DeploymentState
	}{
		"planned":                       {runs.Planned, last{}, ""},
		"planned again":                 {runs.Planned, last{1, github.DeploymentDone}, ""},
		"queued":                        {runs.ApplyQueued, last{}, ""},
		"applied now":                   {runs.Applying, last{}, github.DeploymentRuns},
		"applied now, as is known":      {runs.Applying, running, ""},
		"applied again":                 {runs.Applying, last{1, github.DeploymentRuns}, github.DeploymentRuns},
		"gone on with":                  {runs.Continuing, last{}, github.DeploymentRuns},
		"refused after all":             {runs.Planned, running, github.DeploymentNone},
		"refused as stale":              {runs.Stale, running, github.DeploymentNone},
		"refused, as is known":          {runs.Planned, last{2, github.DeploymentNone}, ""},
		"begun once more after a death": {runs.ApplyQueued, running, ""},
		"applied":                       {runs.Applied, running, github.DeploymentDone},
		"applied at once":               {runs.Applied, last{}, github.DeploymentDone},
		"applied, as is known":          {runs.Applied, last{2, github.DeploymentDone}, ""},
		"failed":                        {runs.ApplyFailed, running, github.DeploymentFailed},
		"stopped":                       {runs.Stopped, running, github.DeploymentFailed},
		"failed before, now applied":    {runs.Applied, last{1, github.DeploymentFailed}, github.DeploymentDone},
	} {
		r := runs.Run{Phase: c.phase, Asked: runs.Asked{Try: 2}, Plan: runs.Plan{Deploys: "production"}}
		if got := deploymentDue(r, c.told); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
		r.Plan.Deploys = ""
		if got := deploymentDue(r, c.told); got != "" {
			t.Errorf("%s, without an environment of GitHub: %q", name, got)
		}
	}
}
