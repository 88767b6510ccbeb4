package ledger

import (
	"context"
	"fmt"
	"time"

	"github.com/lockstep-iac/lockstep/functions/pipeline"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/ratelimits"
)

// updatesKey returns the key of the record of the updates about applies and plans in progress. GitHub limits the writes of
// an installation, so all its repositories share a record.
func updatesKey(p pipeline.Pull) string { return fmt.Sprintf("pace/updates/%d", p.Installation) }

func updatedPull(p pipeline.Pull) string { return fmt.Sprintf("%d/%d", p.Repo.ID, p.Number) }

// AskUpdate asks for an update of what people read about the work in progress of a pull request: see
// [ratelimits.Updates.Ask].
func (ld Ledger) AskUpdate(ctx context.Context, p pipeline.Pull, w ratelimits.Work, now time.Time) (extent ratelimits.Extent, next time.Time, err error) {
	err = Edit(ctx, ld, updatesKey(p), func(have *ratelimits.Updates) *ratelimits.Updates {
		var u ratelimits.Updates
		if have != nil {
			u = *have
		}
		u, extent, next = u.Ask(updatedPull(p), w, now)
		return &u
	})
	return extent, next, err
}

// TakeTurn returns the time at which the comments about a step of a pull request may be written: see
// [ratelimits.Updates.Result].
func (ld Ledger) TakeTurn(ctx context.Context, p pipeline.Pull, now time.Time) (at time.Time, err error) {
	at = now
	err = Edit(ctx, ld, updatesKey(p), func(have *ratelimits.Updates) *ratelimits.Updates {
		if have == nil {
			return nil
		}
		var u ratelimits.Updates
		u, at = have.Result(now)
		return &u
	})
	return at, err
}

// NextUpdate returns the time of the next update about a pull request; zero if none is reserved. unavailable is set
// if the writes for it are used up, so that nobody knows when it comes.
func (ld Ledger) NextUpdate(ctx context.Context, p pipeline.Pull) (next time.Time, unavailable bool, err error) {
	u, err := Get[ratelimits.Updates](ctx, ld, updatesKey(p))
	own, known := u.Pulls[updatedPull(p)]
	if known && own.Extent == "" {
		return time.Time{}, true, err
	}
	return own.Next, false, err
}

// PauseUpdates allows no update before the time until, because GitHub has refused one until then.
func (ld Ledger) PauseUpdates(ctx context.Context, p pipeline.Pull, until time.Time) error {
	return Edit(ctx, ld, updatesKey(p), func(have *ratelimits.Updates) *ratelimits.Updates {
		var u ratelimits.Updates
		if have != nil {
			u = *have
		}
		u = u.Pause(until)
		return &u
	})
}
