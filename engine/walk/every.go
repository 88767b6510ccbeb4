package walk

import (
	"context"
	"sync"
	"time"
)

// Every calls f each time that the interval has passed, and once more when ctx ends,
// until stop is called: none begins after that. Calls do not overlap; stop waits for one that is
// under way. An interval below a nanosecond counts as one.
func Every(ctx context.Context, interval time.Duration, f func()) (stop func()) {
	stopped := make(chan struct{})
	var done sync.WaitGroup
	done.Go(func() {
		ticker := time.NewTicker(max(interval, 1))
		defer ticker.Stop()
		ended := ctx.Done()
		for {
			select {
			case <-stopped:
				return
			case <-ended:
				ended = nil // once
			case <-ticker.C:
			}
			select {
			case <-stopped:
				return
			default:
				f()
			}
		}
	})
	var once sync.Once
	return func() {
		once.Do(func() { close(stopped) })
		done.Wait()
	}
}
