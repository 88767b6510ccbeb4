package localpipeline

import (
	"context"

	"github.com/lockstep-iac/lockstep/functions/comment"
	"github.com/lockstep-iac/lockstep/functions/page"
	"github.com/lockstep-iac/lockstep/functions/pipeline/jobs"
)

// An announcing is an engine whose applies announce each report of their progress to the pages, after it is
// recorded. So a page shows at once what comments show only as often as GitHub permits.
type announcing struct {
	jobs.Engine
	changed *page.Changes
}

// Apply implements jobs.Engine.
func (a announcing) Apply(ctx context.Context, j jobs.Job, plan []byte, permit func(jobs.BeforeApply) jobs.Permit) (jobs.Outcome, error) {
	if record := j.Progress; record != nil {
		j.Progress = func(o comment.Ongoing) {
			record(o)
			a.changed.Changed()
		}
	}
	return a.Engine.Apply(ctx, j, plan, permit)
}
