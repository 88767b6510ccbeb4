package applying

import (
	"context"
	"slices"
	"time"

	"github.com/lockstep-iac/lockstep/engine/diags"
)

// pace returns save with a pause after each call of nine times its length: a save of n
// objects takes time in proportion to n, and so an apply of n changes spends at most a
// tenth of its own time on saves, however many there are. The pause has SaveEvery/2 as
// its limit.
//
// The length is the shortest of the last few: a busy machine makes single saves long,
// and must not make the state old.
func (a *applier) pace() func(context.Context) diags.Diagnostics {
	const few = 4
	var lengths []time.Duration
	var next time.Time
	return func(ctx context.Context) diags.Diagnostics {
		start := time.Now()
		if start.Before(next) && ctx.Err() == nil {
			return nil
		}
		before := a.saved
		ds := a.save(ctx)
		if a.saved == before {
			return ds
		}
		end := time.Now()
		lengths = append(lengths, end.Sub(start))
		lengths = lengths[max(0, len(lengths)-few):]
		next = end.Add(min(9*slices.Min(lengths), a.in.SaveEvery/2))
		return ds
	}
}
