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

// errStopped is the cause of the end of a context for work that was stopped.
var errStopped = errors.New("somebody stopped it")

// DefaultPoll is the default interval at which work looks for orders.
const DefaultPoll = 5 * time.Second

// Watch returns a context for the work on a run, which ends when the ledger has an order to stop it.
// poll is the interval of looking, 0 is DefaultPoll. end must be called when the work has ended; it
// returns the order, nil if there was none.
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
		// An order that cannot be read now is read the next time.
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
