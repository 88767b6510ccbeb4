package dispatch

import (
	"github.com/lockstep-iac/lockstep/functions/pipeline/gatefacts"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/drift"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/integrations"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/planrun"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/report"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/shadowing"
)

// GitHub is one repository on GitHub. *github.Client implements it.
type GitHub interface {
	gatefacts.Hub
	report.Hub
	integrations.Hub
	integrations.DeploymentHub
	planrun.ProposalHub
	drift.Hub
	shadowing.Hub
	issueHub
}
