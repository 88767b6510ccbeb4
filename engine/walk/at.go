package walk

import (
	"sync"
	"time"
)

// At calls f at a time, or at once if it is past, and again at the time that f returns,
// until that is zero or stop is called. Stop waits for a call that is under way.
func At(when time.Time, f func() (next time.Time)) (stop func()) {
	stopped := make(chan struct{})
	var done sync.WaitGroup
	done.Go(func() {
		for !when.IsZero() {
			timer := time.NewTimer(time.Until(when))
			select {
			case <-stopped:
				timer.Stop()
				return
			case <-timer.C:
				when = f()
			}
		}
	})
	var once sync.Once
	return func() {
		once.Do(func() { close(stopped) })
		done.Wait()
	}
}
