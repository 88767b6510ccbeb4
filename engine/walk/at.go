package walk

import (
	"sync"
	"time"
)

// At calls f at the given time, or at once if the time is past. It calls f again at the time that f returns,
// until f returns the zero time or stop is called. stop waits for a call that is running.
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
