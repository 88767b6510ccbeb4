package dispatch

import (
	"github.com/lockstep-iac/lockstep/functions/pipeline/gatefacts"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/integrations"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/report"
	"github.com/lockstep-iac/lockstep/github"
)

// GitHub is one repository; *github.Client is it.
type GitHub interface {
	gatefacts.Hub
	report.Hub
	integrations.Hub
	integrations.DeploymentHub
	// Budget returns what is left of GitHub's requests, as it told last.
	Budget() github.Budget
}
