package walk

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
)

// A function runs at the times that it asks for, until it asks for no more or is stopped.
func TestAt(t *testing.T) {
	const s = time.Second
	for _, c := range []struct {
		name  string
		first time.Duration
		then  []time.Duration // from the call on; no more: never
		want  []time.Duration // from the start on, as far as before stop
	}{
		{"once", 5 * s, nil, []time.Duration{5 * s}},
		{"at once, if the time is past", -5 * s, nil, []time.Duration{0}},
		{"again and again", 5 * s, []time.Duration{10 * s, 20 * s}, []time.Duration{5 * s, 15 * s, 35 * s}},
		{"until it is stopped", 50 * s, []time.Duration{49 * s, 2 * s}, []time.Duration{50 * s, 99 * s}},
		{"never", 200 * s, nil, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				start := time.Now()
				var calls []time.Duration
				stop := At(start.Add(c.first), func() time.Time {
					calls = append(calls, time.Since(start))
					if len(calls) > len(c.then) {
						return time.Time{}
					}
					return time.Now().Add(c.then[len(calls)-1])
				})
				time.Sleep(100 * s)
				stop()
				time.Sleep(200 * s)
				if diff := cmp.Diff(c.want, calls); diff != "" {
					t.Errorf("(-want +got)\n%s", diff)
				}
			})
		})
	}
}
