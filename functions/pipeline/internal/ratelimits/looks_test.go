package ratelimits

import (
	"testing"
	"time"
)

// TestLooks holds that looks come at once at first, and then one each gap; that a pause gives the burst back; and that no hour has more of
// them in a repository than a half of GitHub's limit pays for.
func TestLooks(t *testing.T) {
	start := time.Date(2026, time.March, 2, 9, 0, 0, 0, time.UTC)
	second := time.Second
	var l Looks
	for i, want := range []int{0, 0, 0, 6, 12, 18} {
		var at time.Time
		if l, at = l.Next(start, second, Pause{Burst: 3, Gap: 6}); at.Sub(start) != time.Duration(want)*second {
			t.Errorf("look %d is after %s, want %d s", i, at.Sub(start), want)
		}
	}
	if _, at := l.Next(start.Add(time.Hour), second, Pause{Burst: 3, Gap: 6}); !at.Equal(start.Add(time.Hour)) {
		t.Errorf("after an hour it is at %s", at)
	}
	var all Looks
	looks := 0
	for at := start; looks < 1000 && at.Before(start.Add(time.Hour)); looks++ {
		all, at = all.Next(at, LookEvery, OfRepository)
	}
	if looks < 200 || looks*10 > 2500 {
		t.Errorf("%d looks in an hour", looks)
	}
	seen := Looks{Began: start}
	for told, want := range map[time.Duration]bool{-6 * second: true, -5 * second: false, 0: false, second: false} {
		if got := seen.Seen(start.Add(told), LookEvery); got != want {
			t.Errorf("what was told %s from the look is seen: %t", told, got)
		}
	}
}
