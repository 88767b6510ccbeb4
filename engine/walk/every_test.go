package walk

import (
	"context"
	"testing"
	"testing/synctest"
	"time"
)

// A function runs at each interval, at once when the context ends, and not after stop.
func TestEvery(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		start := time.Now()
		var calls []time.Duration
		stop := Every(ctx, 10*time.Second, func() { calls = append(calls, time.Since(start)) })
		time.Sleep(25 * time.Second)
		cancel()
		synctest.Wait()
		time.Sleep(6 * time.Second)
		stop()
		time.Sleep(time.Minute)
		want := []time.Duration{10 * time.Second, 20 * time.Second, 25 * time.Second, 30 * time.Second}
		if len(calls) != len(want) {
			t.Fatalf("called at %v, want %v", calls, want)
		}
		for i := range want {
			if calls[i] != want[i] {
				t.Errorf("call %d at %v, want %v", i, calls[i], want[i])
			}
		}
	})
}

// Half of the shortest interval is an interval, too.
func TestEveryNothing(t *testing.T) {
	t.Parallel()
	for _, interval := range []time.Duration{0, 1, -1} {
		called := make(chan struct{}, 1)
		stop := Every(t.Context(), interval, func() {
			select {
			case called <- struct{}{}:
			default:
			}
		})
		<-called
		stop()
	}
}
