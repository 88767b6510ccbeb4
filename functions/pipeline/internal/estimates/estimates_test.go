package estimates

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"
)

// TestLeft is a table of the rest of applies: what waits, what runs and for how long, and the estimate. The typical duration of "a" is 10 s,
// that of "b" is 60 s, and that of "x" is not known.
func TestLeft(t *testing.T) {
	t.Parallel()
	typical := Durations{"a": {9000, 10_000, 30_000}, "b": {60_000}}.Typical()
	for _, test := range []struct {
		wait, run string
		atATime   int
		want      string // "" for no estimate
	}{
		{"", "", 10, ""},
		{"a", "", 10, "10s"},
		{"a a a a", "", 1, "40s"},
		{"a a a a", "", 2, "20s"},
		{"a a a a", "", 10, "10s"},
		{"b a a a a", "", 10, "1m0s"},
		{"", "b=20", 10, "40s"},
		{"", "b=90", 10, "0s"},
		{"a a", "b=20 b=50", 2, "40s"},
		{"a a a a x", "", 1, "50s"},
		{"a a a x", "", 1, ""},
		{"a a a a", "x=5", 1, "50s"},
		{"x", "", 1, ""},
		{"a", "", 0, "10s"},
	} {
		var wait []Kind
		for _, k := range strings.Fields(test.wait) {
			wait = append(wait, Kind(k))
		}
		var run []Running
		for _, r := range strings.Fields(test.run) {
			k, s, _ := strings.Cut(r, "=")
			d, err := time.ParseDuration(s + "s")
			if err != nil {
				t.Fatal(err)
			}
			run = append(run, Running{Kind(k), d})
		}
		got, ok := typical.Left(wait, run, test.atATime)
		if text := fmt.Sprint(got); ok != (test.want != "") || ok && text != test.want {
			t.Errorf("%q wait and %q run, %d at a time: %v, %v, want %s", test.wait, test.run, test.atATime, got, ok, test.want)
		}
	}
}

// TestDurationsAreBounded holds that neither many applies nor a hostile process make the record of durations large, and that the latest
// durations are kept.
func TestDurationsAreBounded(t *testing.T) {
	t.Parallel()
	d := Durations{}
	for i := range 1000 {
		one := Durations{}
		for n := range 30 {
			one.Took(KindOf(fmt.Sprintf("aws_%0100d", i), "create"), time.Duration(n)*time.Hour)
		}
		for _, list := range one {
			if len(list) != maxDurations || list[0] != (10*time.Hour).Milliseconds() {
				t.Fatalf("an apply has %d durations of a kind: %v", len(list), list)
			}
		}
		d = d.With(one)
	}
	value, err := json.Marshal(d)
	latest := d[KindOf(fmt.Sprintf("aws_%0100d", 999), "create")]
	if err != nil || len(d) != maxKinds || len(value) > 200<<10 || len(latest) > maxDurations || len(latest) == 0 || latest[len(latest)-1] != (24*time.Hour).Milliseconds() {
		t.Errorf("%d kinds, %d bytes, the latest %v, %v", len(d), len(value), latest, err)
	}
	hostile := Durations{"": {1}, Kind(strings.Repeat("x", maxKind+1)): {1}, "x\xff": {1}, "y": {-1, 1 << 60}, "good": {5}}
	for i := range 100_000 {
		hostile["good"] = append(hostile["good"], int64(i))
	}
	got := Durations{"old": {7}}.With(hostile)
	if len(got) != 2 || len(got["good"]) != maxDurations || got["good"][maxDurations-1] != 99_999 || len(got["old"]) != 1 {
		t.Errorf("%v", got)
	}
	if got := (Durations{}).With(Durations{"quick": {0}}); len(got["quick"]) != 1 {
		t.Errorf("a single duration: %v", got)
	}
	many := Durations{}
	for i := range 2 * maxKinds {
		many.Took(Kind(fmt.Sprint(i)), time.Second)
	}
	if len(many) != maxKinds {
		t.Errorf("an apply has %d kinds", len(many))
	}
}
