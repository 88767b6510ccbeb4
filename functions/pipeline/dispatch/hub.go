package dispatch

import (
	"github.com/lockstep-iac/lockstep/functions/pipeline/evidence"
	"github.com/lockstep-iac/lockstep/functions/pipeline/report"
)

// GitHub is one repository; *github.Client is it.
type GitHub interface {
	evidence.Hub
	report.Hub
}
