package localpipeline

import (
	"context"

	"github.com/lockstep-iac/lockstep/functions/comment"
	"github.com/lockstep-iac/lockstep/functions/page"
	"github.com/lockstep-iac/lockstep/functions/pipeline"
	"github.com/lockstep-iac/lockstep/functions/pipeline/jobs"
)

// An announcing is an engine whose plans and applies announce each report of their progress to the pages, after it is
// recorded. So a page shows at once what comments show only as often as GitHub permits.
type announcing struct {
	jobs.Engine
	records pipeline.Records // stores the logs of providers, which only the pages show
	changed *page.Changes
}

// Plan implements jobs.Engine.
func (a announcing) Plan(ctx context.Context, j jobs.Job) (jobs.PlanResult, error) {
	return a.Engine.Plan(ctx, a.announced(ctx, j))
}

// Apply implements jobs.Engine.
func (a announcing) Apply(ctx context.Context, j jobs.Job, plan []byte, permit func(jobs.BeforeApply) jobs.Permit) (jobs.Outcome, error) {
	return a.Engine.Apply(ctx, a.announced(ctx, j), plan, permit)
}

// announced returns the job with a Progress that also announces.
func (a announcing) announced(ctx context.Context, j jobs.Job) jobs.Job {
	if record := j.Progress; record != nil {
		ctx := context.WithoutCancel(ctx)
		own := j
		j.Progress = func(o comment.Ongoing) {
			recordLog(ctx, a.records, own, o)
			record(o)
			a.changed.Changed()
		}
	}
	return j
}
