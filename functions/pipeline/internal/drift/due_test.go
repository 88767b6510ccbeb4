package drift

import (
	"fmt"
	"testing"
	"time"
)

// TestTurn holds that each project has exactly one turn in each interval, whenever the rounds are, and that the turns of
// 500 projects are spread over the interval.
func TestTurn(t *testing.T) {
	t.Parallel()
	const every, round = 24 * time.Hour, 53 * time.Minute
	begin := time.Date(2026, 3, 1, 7, 0, 0, 0, time.UTC)
	busiest := 0
	rounds := map[int]int{}
	for p := range 500 {
		key := fmt.Sprintf("5/project-%d@default", p)
		turns, last := 0, begin
		for i, now := 0, begin; now.Sub(begin) <= 10*every; i, now = i+1, now.Add(round) {
			if at := turn(key, every, now); at.After(last) {
				turns++
				rounds[i]++
			} else if at.After(now) {
				t.Fatalf("the turn %s is after %s", at, now)
			}
			last = now
		}
		if turns < 9 || turns > 10 {
			t.Errorf("%s has %d turns in 10 days", key, turns)
		}
	}
	for _, n := range rounds {
		busiest = max(busiest, n)
	}
	if busiest > 45 { // 18 on average
		t.Errorf("%d of 500 projects have their turn within %s", busiest, round)
	}
}

// TestPause is a table of the times between two rounds.
func TestPause(t *testing.T) {
	t.Parallel()
	for every, want := range map[time.Duration]time.Duration{0: longest, time.Hour: shortest, 24 * time.Hour: time.Hour, 31 * 24 * time.Hour: longest} {
		if got := pause(every); got != want {
			t.Errorf("every %s: a round each %s, want %s", every, got, want)
		}
	}
}
