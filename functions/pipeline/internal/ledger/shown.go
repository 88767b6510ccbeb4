package ledger

import (
	"context"
	"strings"
	"time"

	"github.com/lockstep-iac/lockstep/functions/comment/markdown"
	"github.com/lockstep-iac/lockstep/functions/pipeline"
	"github.com/lockstep-iac/lockstep/functions/pipeline/runs"
)

// Shown records, for each plan in Lockstep's comment, when people could first see it. The comment is written
// again and again, so only the first time is recorded. The check run is written earlier, but does not count:
// until the comment is written, it shows an older plan, which people read. fresh is set if one of the plans was
// not shown before.
func (ld Ledger) Shown(ctx context.Context, all []Versioned, text string, at time.Time) (fresh bool, err error) {
	for _, r := range all {
		if r.Phase != runs.Planned || r.Plan.Hash == "" || !strings.Contains(text, markdown.PlanName(r.Plan.Hash)+"\n") {
			continue
		}
		_, err := ld.Change(ctx, r.ShownKey(), func(old []byte) ([]byte, error) {
			if old != nil {
				return nil, ErrAsIs
			}
			fresh = true
			return pipeline.Encode(at), nil
		})
		if err != nil {
			return false, err
		}
	}
	return fresh, nil
}

// ShownAt returns the time at which the plan of a run was first shown; zero if it was never shown.
func (ld Ledger) ShownAt(ctx context.Context, r runs.Run) (at time.Time, err error) {
	return Get[time.Time](ctx, ld, r.ShownKey())
}
