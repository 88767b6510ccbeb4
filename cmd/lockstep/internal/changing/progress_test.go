package changing

import (
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/events"
	"github.com/lockstep-iac/lockstep/engine/plans"
)

// Every ten seconds it is told of what is still under way, and of nothing else.
func TestProgress(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		var got []string
		start := time.Now()
		p := keepTime(func(e events.Event) {
			mu.Lock()
			defer mu.Unlock()
			got = append(got, fmt.Sprintf("%s: kind %d of %s, %s", time.Since(start).Round(time.Second), e.Kind, e.Addr, e.Elapsed))
		})
		object := func(s string) addrs.ResourceInstanceObject {
			a, err := addrs.ParseAbsResourceInstance(s)
			if err != nil {
				t.Fatal(err)
			}
			return addrs.ResourceInstanceObject{Instance: a}
		}
		send := func(k events.Kind, s string) {
			p.event(events.Event{Kind: k, Addr: object(s), Action: plans.Create})
		}
		send(events.ApplyStart, "lab_thing.slow")
		send(events.ApplyStart, "lab_thing.quick")
		time.Sleep(5 * time.Second)
		send(events.ApplyDone, "lab_thing.quick")
		time.Sleep(17500 * time.Millisecond)
		send(events.ApplyFailed, "lab_thing.slow")
		time.Sleep(time.Minute)
		p.stop()
		want := []string{
			fmt.Sprintf("0s: kind %d of lab_thing.slow, 0s", events.ApplyStart),
			fmt.Sprintf("0s: kind %d of lab_thing.quick, 0s", events.ApplyStart),
			fmt.Sprintf("5s: kind %d of lab_thing.quick, 0s", events.ApplyDone),
			fmt.Sprintf("10s: kind %d of lab_thing.slow, 10s", events.ApplyProgress),
			fmt.Sprintf("20s: kind %d of lab_thing.slow, 20s", events.ApplyProgress),
			fmt.Sprintf("23s: kind %d of lab_thing.slow, 0s", events.ApplyFailed),
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
	})
}
