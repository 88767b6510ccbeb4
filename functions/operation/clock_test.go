package operation

import (
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lockstep-iac/lockstep/statebackend/statebackendtest"
)

// TestAClockThatJumps has the wall clock of an apply jump while it makes its first object, and another
// process want the state meanwhile, whose clock is right or not. At most one of them writes, and
// the next apply ends whole.
func TestAClockThatJumps(t *testing.T) {
	t.Parallel()
	const right, day = 0, 24 * time.Hour
	for _, test := range []struct {
		name        string
		jump, other time.Duration // of the apply's clock, and of the other's
		taken       bool          // the other takes the lock over
	}{
		{"the apply's forward", day, right, false},
		{"the apply's back", -day, right, false},
		{"both forward", day, day, false},
		{"both back", -day, -day, false},
		{"the other's is slow", right, -day, false},
		{"the other's is fast", right, day, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				log := new(eavesdropped)
				b := journaled{new(statebackendtest.Fake), log}
				var offset atomic.Int64
				clock := func() time.Time { return time.Now().Add(time.Duration(offset.Load())) }
				others := func() time.Time { return time.Now().Add(test.other) }
				var heir *Operation
				log.once(`"kind":"intent"`, func() {
					offset.Store(int64(test.jump))
					time.Sleep(3 * time.Minute) // a lease that nobody renews is over
					o, ds := opened(t, b, &Lock{Operation: "OperationTypeApply", now: others})
					switch {
					case !ds.HasErrors():
						heir = o
					case !strings.Contains(ds.Error(), "Wait until that run has finished"):
						t.Errorf("the other reads %s", ds)
					}
				})
				o := mustOpen(t, b, &Lock{Operation: "OperationTypeApply", now: clock})
				done, ds := applied(t, o)
				if (heir != nil) != test.taken {
					t.Fatalf("taken over: %t", heir != nil)
				}
				if test.taken {
					if !tells(ds, "The state lock was lost") || storedState(t, b) != "" || done.Tally.Done().Add != 1 {
						t.Errorf("the deposed: %d added, %v, stored %q", done.Tally.Done().Add, ds, storedState(t, b))
					}
					releases(t, heir)
				} else if ds.HasErrors() || done.Tally.Done().Add != 2 {
					t.Errorf("the apply: %d added, %v", done.Tally.Done().Add, ds)
				}
				o.Unlock(t.Context())
				whole(t, b)
			})
		})
	}
}

// whole applies the rest, and holds that there is none then.
func whole(t *testing.T, b journaled) {
	t.Helper()
	next := mustOpen(t, b, continuing("next"))
	if len(next.Recovery.Unresolved) > 0 {
		t.Errorf("%+v", next.Recovery)
	}
	if _, ds := applied(t, next); ds.HasErrors() {
		t.Errorf("the next apply: %v", ds)
	}
	releases(t, next)
	last := mustOpen(t, b, continuing("last"))
	if p := planned(t, last); Actions(p) > 0 {
		t.Errorf("%d actions are left", Actions(p))
	}
	releases(t, last)
	if s := storedState(t, b); strings.Count(s, `"name": "a"`) != 1 || strings.Count(s, `"name": "b"`) != 1 {
		t.Errorf("the state is %s", s)
	}
}
