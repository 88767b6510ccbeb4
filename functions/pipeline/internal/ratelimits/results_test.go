package ratelimits

import (
	"fmt"
	"testing"
	"time"
)

// TestResultsTakeTurns has 36 results come within a minute, while 20 pull requests are applied: within any minute GitHub gets no more than the
// limit, whoever asks first is first, and nobody waits longer than MaxHeld. Progress yields to them, and few pull requests need no turns.
func TestResultsTakeTurns(t *testing.T) {
	t.Parallel()
	start := time.Date(2026, time.March, 2, 9, 0, 0, 0, time.UTC)
	var u Updates
	for i := range 20 {
		u, _, _ = u.Ask(fmt.Sprint(i), Work{Began: start.Add(-time.Hour)}, start)
	}
	now := start.Add(70 * time.Second)
	var turns []time.Time
	var all []Taken
	held := 0
	for i := range 36 {
		var at time.Time
		asks := now.Add(time.Duration(i) * time.Second)
		u, at = u.Result(asks)
		if len(turns) > 0 && at.Before(turns[len(turns)-1]) || at.Before(asks) || at.Sub(asks) > MaxHeld {
			t.Errorf("result %d asks at %s, and has its turn at %s", i, asks, at)
		}
		if at.After(asks) {
			held++
		}
		turns, all = append(turns, at), append(all, Taken{at, resultWrites})
	}
	for _, at := range turns {
		if n := writesAt(all, at); n > commentsPerMinute {
			t.Errorf("%d writes within the minute before %s", n, at)
		}
	}
	if held < 20 || held > 30 || len(u.Taken) > 60 {
		t.Errorf("%d results are held, %d are in the record", held, len(u.Taken))
	}
	if _, extent, next := u.Ask("0", Work{Began: start.Add(-time.Hour)}, now.Add(40*time.Second)); extent != "" || next.Before(now.Add(time.Minute)) {
		t.Errorf("progress is written before results: %q, next at %s", extent, next)
	}
	var few Updates
	for i := range manyPulls - 1 {
		few, _, _ = few.Ask(fmt.Sprint(i), Work{Began: start}, start)
	}
	before := len(few.Taken)
	for range 100 {
		var at time.Time
		if few, at = few.Result(start); !at.Equal(start) || len(few.Taken) != before {
			t.Fatalf("a result waits until %s", at)
		}
	}
	late := start.Add(time.Hour)
	if _, at := u.Result(late); !at.Equal(late) {
		t.Errorf("an hour later, a result waits until %s", at)
	}
	crowd := u
	for range 1000 {
		if crowd, _ = crowd.Result(now.Add(40 * time.Second)); len(crowd.Taken) > 2000 {
			t.Fatal("the record grows without end")
		}
	}
	if _, at := crowd.Result(now.Add(40 * time.Second)); at.Sub(now.Add(40*time.Second)) > MaxHeld {
		t.Errorf("a result of a thousand waits until %s", at)
	}
}
