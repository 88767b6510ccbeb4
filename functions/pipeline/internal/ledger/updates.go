package ledger

import (
	"context"
	"fmt"
	"time"

	"github.com/lockstep-iac/lockstep/functions/pipeline"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/ratelimits"
)

// updatesKey returns the key of the record of the updates about applies in progress. GitHub limits the writes of
// an installation, so all its repositories share a record.
func updatesKey(p pipeline.Pull) string { return fmt.Sprintf("pace/updates/%d", p.Installation) }

func updatedPull(p pipeline.Pull) string { return fmt.Sprintf("%d/%d", p.Repo.ID, p.Number) }

// AskUpdate asks for an update of what people read about the applies in progress of a pull request: see
// [ratelimits.Updates.Ask]. began is the time at which the apply began that asks.
func (ld Ledger) AskUpdate(ctx context.Context, p pipeline.Pull, began, now time.Time) (extent ratelimits.Extent, next time.Time, err error) {
	err = change(ctx, ld, updatesKey(p), func(have *ratelimits.Updates) *ratelimits.Updates {
		var u ratelimits.Updates
		if have != nil {
			u = *have
		}
		u, extent, next = u.Ask(updatedPull(p), began, now)
		return &u
	})
	return extent, next, err
}

// NextUpdate returns the time of the next update about a pull request; zero if none is reserved.
func (ld Ledger) NextUpdate(ctx context.Context, p pipeline.Pull) (time.Time, error) {
	u, err := getOrZero[ratelimits.Updates](ctx, ld, updatesKey(p))
	return u.Pulls[updatedPull(p)].Next, err
}

// PauseUpdates allows no update before the time until, because GitHub has refused one until then.
func (ld Ledger) PauseUpdates(ctx context.Context, p pipeline.Pull, until time.Time) error {
	return change(ctx, ld, updatesKey(p), func(have *ratelimits.Updates) *ratelimits.Updates {
		var u ratelimits.Updates
		if have != nil {
			u = *have
		}
		u = u.Pause(until)
		return &u
	})
}
