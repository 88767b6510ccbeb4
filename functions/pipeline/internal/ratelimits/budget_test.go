package ratelimits

import (
	"testing"
	"time"
)

// TestBudget has repositories make requests one after the other, each as many as it may, and holds that one or two which want all leave the
// last fifth of the hour to others, who get through; and that the next hour begins anew.
func TestBudget(t *testing.T) {
	const a, b, c = 1, 2, 3
	start := time.Date(2026, time.March, 2, 9, 0, 0, 0, time.UTC)
	for name, floods := range map[string][]int64{"one floods": {a}, "two flood": {a, b}} {
		left, reset := 5000, start.Add(time.Hour)
		var now Budget
		spend := func(repo int64, n int, at time.Time) bool {
			if now.Waits(repo, at) || left < n {
				return false
			}
			left -= n
			if told := (Budget{Limit: 5000, Left: left, Reset: reset}); told.Short() {
				now = now.Spend(repo, n, told)
			}
			return true
		}
		for range 1000 {
			for _, x := range floods {
				spend(x, 10, start)
			}
		}
		if left < 900 || left > 1000 {
			t.Errorf("%s: %d requests are left to others", name, left)
		}
		for range 10 {
			if !spend(c, 10, start) {
				t.Errorf("%s: another repository waits, with %d requests left: %+v", name, left, now)
			}
		}
		if spend(a, 10, start) {
			t.Errorf("%s: the first one goes on", name)
		}
		left, reset = 5000, reset.Add(time.Hour)
		if !spend(a, 10, start.Add(time.Hour)) {
			t.Errorf("%s: it waits in the next hour", name)
		}
	}
	was := Budget{Limit: 100, Left: 10, Reset: start.Add(time.Hour), Used: map[int64]int{a: 30}}
	if got := was.Spend(b, 5, Budget{Limit: 100, Left: 20, Reset: was.Reset}); got.Left != 10 || got.Used[a] != 30 || got.Used[b] != 5 || was.Used[b] != 0 {
		t.Errorf("an answer that came late: %+v", got)
	}
	if got := was.Spend(b, 5, Budget{Limit: 100, Left: 40, Reset: was.Reset.Add(time.Hour)}); got.Left != 40 || len(got.Used) != 1 {
		t.Errorf("in the next hour: %+v", got)
	}
}
