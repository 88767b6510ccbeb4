package integrations

import (
	"context"
	"maps"

	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/ledger"
)

// reported is the record of what was last reported outward about each run of a pull request. So each fact is
// reported once, whatever process handles it. A process that dies after the report and before the record reports
// the fact again.
type reported[T any] struct {
	ledger ledger.Ledger
	key    string
}

// last returns what was last reported, by the run's key.
func (r reported[T]) last(ctx context.Context) (map[string]T, error) {
	return ledger.Get[map[string]T](ctx, r.ledger, r.key)
}

// keep records what was reported now, by the run's key. The rest of the record stays.
func (r reported[T]) keep(ctx context.Context, now map[string]T) error {
	return ledger.Edit(ctx, r.ledger, r.key, func(all *map[string]T) *map[string]T {
		if all == nil {
			return &now
		}
		maps.Copy(*all, now)
		return all
	})
}
