package ledger

import (
	"context"
	"fmt"

	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/estimates"
	"github.com/lockstep-iac/lockstep/functions/pipeline/runs"
)

func durationsKey(r runs.Run) string { return fmt.Sprintf("took/%d/%s", r.Pull.Repo.ID, r.StateName()) }

// Typical returns the typical durations of changes of a run's state, from its earlier applies.
func (ld Ledger) Typical(ctx context.Context, r runs.Run) (estimates.Typical, error) {
	d, err := Get[estimates.Durations](ctx, ld, durationsKey(r))
	return d.Typical(), err
}

// RecordDurations records how long the changes of an apply took.
func (ld Ledger) RecordDurations(ctx context.Context, r runs.Run, took estimates.Durations) error {
	return Edit(ctx, ld, durationsKey(r), func(have *estimates.Durations) *estimates.Durations {
		var d estimates.Durations
		if have != nil {
			d = *have
		}
		d = d.With(took)
		return &d
	})
}
