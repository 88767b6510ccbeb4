package stopping

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"github.com/lockstep-iac/lockstep/engine/walk"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/ledger"
	"github.com/lockstep-iac/lockstep/functions/pipeline/runs"
)

// errStopped is the cause of a context that ended because somebody stopped the work.
var errStopped = errors.New("somebody stopped it")

// DefaultPoll is the default interval at which work checks whether it must stop.
const DefaultPoll = 5 * time.Second

// Watch returns a context for the work on a run. It ends when the ledger has an order to stop this work. poll
// is the interval between two reads; 0 means DefaultPoll. The caller must call end when the work has ended. end
// returns the order; nil if there was none.
func Watch(ctx context.Context, ld ledger.Ledger, r runs.Run, poll time.Duration) (work context.Context, end func() *ledger.Stop) {
	if poll == 0 {
		poll = DefaultPoll
	}
	work, cancel := context.WithCancelCause(ctx)
	var found atomic.Pointer[ledger.Stop]
	done := walk.Every(work, poll, func() {
		if found.Load() != nil {
			return
		}
		// If the order cannot be read now, the next attempt reads it.
		if s, err := ld.StopOf(context.WithoutCancel(work), r); err == nil && s != nil {
			found.Store(s)
			cancel(errStopped)
		}
	})
	return work, func() *ledger.Stop {
		done()
		cancel(nil)
		return found.Load()
	}
}
