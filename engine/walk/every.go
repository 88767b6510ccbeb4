package walk

import (
	"context"
	"sync"
	"time"
)

// Every calls f after each interval, and once more when ctx ends. After stop is called, no call begins. Calls
// do not overlap. stop waits for a call that is running. An interval below a nanosecond counts as one
// nanosecond.
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
