package audit

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// TestDelivery is a month of a repository with two states.
func TestDelivery(t *testing.T) {
	t.Parallel()
	day := func(n float64) time.Time {
		return time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC).Add(time.Duration(n * 24 * float64(time.Hour)))
	}
	d := Delivery{From: day(0), To: day(30)}
	apply := func(chain, run string, opened, ended float64, failed bool) {
		d.Add(Record{Chain: chain, Run: run, Event: ApplyAllowed, At: day(ended), Opened: day(opened)})
		d.Add(Record{Chain: chain, Run: run, Event: ApplyEnded, At: day(ended), Failed: failed})
	}
	apply("net", "1", -9, -8, true) // before the month: it counts for nothing
	apply("net", "2", 0, 1, false)
	apply("net", "3", 1, 2, true)
	apply("net", "4", 1, 2.5, true) // the state has been broken since day 2
	apply("app", "5", 2, 3, false)  // another state does not restore it
	apply("net", "6", 3, 6, false)
	d.Add(Record{Chain: "net", Run: "7", Event: ApplyRefused, At: day(7)})
	apply("net", "8", 30, 31, false) // after the month
	// An apply of an earlier version has no time of opening.
	d.Add(Record{Chain: "app", Run: "9", Event: ApplyEnded, At: day(8)})
	want := [][2]string{
		{"Deployment frequency", "0.1 applies a day"}, {"Lead time for changes", "24.0 h"}, {"Change failure rate", "33%, 2 of 6 applies"}, {"Time to restore", "4.0 days"},
	}
	if diff := cmp.Diff(want, d.Lines()); diff != "" {
		t.Error(diff)
	}
	if none := (&Delivery{}).Lines(); none != nil {
		t.Errorf("without applies: %q", none)
	}
	if diff := cmp.Diff([]string{"none yet", "59 s", "59 min", "47.0 h", "2.5 days"}, []string{span(0), span(59 * time.Second), span(59 * time.Minute), span(47 * time.Hour), span(60 * time.Hour)}); diff != "" {
		t.Error(diff)
	}
}
