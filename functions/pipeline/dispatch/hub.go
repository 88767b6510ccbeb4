package dispatch

import (
	"github.com/lockstep-iac/lockstep/functions/pipeline/evidence"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/automerging"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/deploying"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/report"
)

// GitHub is one repository; *github.Client is it.
type GitHub interface {
	evidence.Hub
	report.Hub
	automerging.Hub
	deploying.Hub
}
