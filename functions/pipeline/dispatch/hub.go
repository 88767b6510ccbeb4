package dispatch

import (
	"github.com/lockstep-iac/lockstep/functions/pipeline/evidence"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/outward"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/report"
	"github.com/lockstep-iac/lockstep/github"
)

// GitHub is one repository; *github.Client is it.
type GitHub interface {
	evidence.Hub
	report.Hub
	outward.Hub
	outward.DeploymentHub
	// Budget returns what is left of GitHub's requests, as it told last.
	Budget() github.Budget
}
