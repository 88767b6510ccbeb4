package ledger

import (
	"context"
	"time"

	"github.com/lockstep-iac/lockstep/functions/comment"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/ratelimits"
	"github.com/lockstep-iac/lockstep/functions/pipeline/runs"
)

// A PlanProgress is the progress of a run's plan. It has a record of its own: whoever writes the record of the run ends
// the plan.
type PlanProgress struct {
	// Plan is the number of the plan, which is Begun of the run's artifacts.
	Plan    int
	Ongoing comment.Ongoing
}

func planProgressKey(r runs.Run) string { return "planning/" + r.Key() }

// RecordPlanProgress records the progress of the run's plan. It does nothing if a later plan of the run has begun.
func (ld Ledger) RecordPlanProgress(ctx context.Context, r runs.Run, o comment.Ongoing) error {
	return Edit(ctx, ld, planProgressKey(r), func(have *PlanProgress) *PlanProgress {
		if have != nil && have.Plan > r.Artifacts.Begun {
			return nil
		}
		return &PlanProgress{r.Artifacts.Begun, o}
	})
}

// ongoingPlan returns the progress of a run's plan.
func (ld Ledger) ongoingPlan(ctx context.Context, r runs.Run, now time.Time) (comment.Ongoing, error) {
	p, err := Get[PlanProgress](ctx, ld, planProgressKey(r))
	o := p.Ongoing
	if err != nil || p.Plan != r.Artifacts.Begun || o.Began.IsZero() || now.Sub(o.Began) < ratelimits.FirstUpdate {
		return comment.Ongoing{}, err
	}
	o.At, o.Planning = now, true
	return o, nil
}
