package ledger

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// TestFigures is a month of a repository with two states.
func TestFigures(t *testing.T) {
	t.Parallel()
	day := func(n float64) time.Time {
		return time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC).Add(time.Duration(n * 24 * float64(time.Hour)))
	}
	all := []Delivery{
		{State: "net", Opened: day(-9), At: day(-8), Failed: true}, // more than 30 days ago: it counts for nothing
		{State: "net", Opened: day(0), At: day(1)},
		{State: "net", Opened: day(1), At: day(2), Failed: true},
		{State: "net", Opened: day(1), At: day(2.5), Failed: true}, // the state has been broken since day 2
		{State: "app", Opened: day(2), At: day(3)},                 // another state does not restore it
		{State: "net", Opened: day(3), At: day(6)},
		{State: "app", At: day(8)}, // nobody knows when the pull request was opened
	}
	want := [][2]string{
		{"Deployment frequency", "0.1 applies a day"}, {"Lead time for changes", "24.0 hours"}, {"Change failure rate", "33% (2 of 6 applies)"}, {"Time to restore", "4.0 days"},
	}
	if diff := cmp.Diff(want, figuresOf(all, day(30))); diff != "" {
		t.Error(diff)
	}
	if none := figuresOf(all, day(90)); none != nil {
		t.Errorf("without applies: %q", none)
	}
	var many []Delivery
	for i := range maxDeliveries {
		many = append(many, Delivery{Run: fmt.Sprint(i), State: "net", At: day(float64(i) / 100)})
	}
	if got := figuresOf(many, day(3)); got[0][1] != "100.0 applies a day" || got[3][1] != "none yet" {
		t.Errorf("of many applies: %q", got)
	}
	for d, want := range map[time.Duration]string{59 * time.Second: "59 s", 59 * time.Minute: "59 min", 47 * time.Hour: "47.0 hours"} {
		if got := median([]time.Duration{d}); got != want {
			t.Errorf("%v: %s", d, got)
		}
	}
}
