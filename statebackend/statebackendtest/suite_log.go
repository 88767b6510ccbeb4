package statebackendtest

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/lockstep-iac/lockstep/statebackend"
)

// RunLog tests that a log fulfils the contract of [statebackend.Log]. The log is empty at first. Each call of
// open's result returns a value of the same log, as another process would have it.
func RunLog(t *testing.T, open func(t *testing.T) func() statebackend.Log) {
	for _, test := range []struct {
		name string
		run  func(t *testing.T, mine, theirs statebackend.Log)
	}{
		{"nothing is stored at first", func(t *testing.T, mine, _ statebackend.Log) { wantSegments(t, mine, "") }},
		{"another process sees the segments in order", logInOrder},
		{"a number is given once", logOnce},
		{"the own bytes again are success", logEcho},
		{"a number below the last is refused", logBehind},
		{"Drop removes what is below, twice as well as once", logDrop},
		{"readers are asked about the first segment from the last one back", logFirst},
		{"segments hold any bytes", logBytes},
		{"of many appends with one number one is stored", logRace},
		{"a context that has ended stores nothing", logEnded},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			next := open(t)
			mine, theirs := next(), next()
			t.Cleanup(func() { mine.Close(); theirs.Close() })
			test.run(t, mine, theirs)
		})
	}
}

func wantSegments(t *testing.T, l statebackend.Log, want string) {
	t.Helper()
	wantSegmentsFrom(t, l, nil, want)
}

// from returns a function for the parameter first of Segments. The function reports whether a segment has
// the given number.
func from(number uint64) func(statebackend.Segment) bool {
	return func(s statebackend.Segment) bool { return s.Number == number }
}

func wantSegmentsFrom(t *testing.T, l statebackend.Log, first func(statebackend.Segment) bool, want string) {
	t.Helper()
	segments, err := l.Segments(t.Context(), first)
	if err != nil {
		t.Fatalf("Segments: %v", err)
	}
	var got []string
	for _, s := range segments {
		got = append(got, fmt.Sprintf("%d:%s", s.Number, s.Data))
	}
	if list := strings.Join(got, " "); list != want {
		t.Fatalf("stored are %q, want %q", list, want)
	}
}

func mustAppend(t *testing.T, l statebackend.Log, number uint64, data string) {
	t.Helper()
	if err := l.Append(t.Context(), number, []byte(data), true); err != nil {
		t.Fatalf("Append(%d, %s): %v", number, data, err)
	}
}

func wantTaken(t *testing.T, err error, number uint64) {
	t.Helper()
	var taken *statebackend.TakenError
	if !errors.As(err, &taken) || taken.Number != number {
		t.Fatalf("the error is %v, want that number %d is taken", err, number)
	}
}

func logInOrder(t *testing.T, mine, theirs statebackend.Log) {
	for n := uint64(1); n <= 12; n++ {
		mustAppend(t, mine, n, "x")
	}
	wantSegments(t, theirs, "1:x 2:x 3:x 4:x 5:x 6:x 7:x 8:x 9:x 10:x 11:x 12:x")
	mustAppend(t, theirs, 13, "y")
	wantSegments(t, mine, "1:x 2:x 3:x 4:x 5:x 6:x 7:x 8:x 9:x 10:x 11:x 12:x 13:y")
}

func logOnce(t *testing.T, mine, theirs statebackend.Log) {
	mustAppend(t, mine, 1, "a")
	wantTaken(t, theirs.Append(t.Context(), 1, []byte("b"), true), 1)
	wantSegments(t, theirs, "1:a")
}

func logEcho(t *testing.T, mine, theirs statebackend.Log) {
	mustAppend(t, mine, 1, "a")
	mustAppend(t, mine, 1, "a")
	mustAppend(t, theirs, 1, "a")
	wantSegments(t, mine, "1:a")
}

func logBehind(t *testing.T, mine, theirs statebackend.Log) {
	mustAppend(t, mine, 1, "a")
	mustAppend(t, mine, 2, "b")
	if err := mine.Drop(t.Context(), 2); err != nil {
		t.Fatal(err)
	}
	mustAppend(t, theirs, 3, "c")
	wantTaken(t, mine.Append(t.Context(), 2, []byte("other"), true), 2)
	wantTaken(t, mine.Append(t.Context(), 1, []byte("other"), true), 1)
	wantSegmentsFrom(t, mine, from(2), "2:b 3:c")
}

func logDrop(t *testing.T, mine, theirs statebackend.Log) {
	for n := uint64(1); n <= 4; n++ {
		mustAppend(t, mine, n, "x")
	}
	for range 2 {
		if err := theirs.Drop(t.Context(), 4); err != nil {
			t.Fatal(err)
		}
		wantSegmentsFrom(t, mine, from(4), "4:x")
	}
	mustAppend(t, mine, 5, "y")
	wantSegmentsFrom(t, theirs, from(4), "4:x 5:y")
}

// logFirst tests the argument first of Segments, with stores that call it and with stores that return all
// segments.
func logFirst(t *testing.T, mine, theirs statebackend.Log) {
	for n := uint64(1); n <= 4; n++ {
		mustAppend(t, mine, n, fmt.Sprint("x", n))
	}
	var asked []string
	segments, err := theirs.Segments(t.Context(), func(s statebackend.Segment) bool {
		asked = append(asked, fmt.Sprintf("%d:%s", s.Number, s.Data))
		return s.Number == 3
	})
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(asked, " "); got != "" && got != "4:x4 3:x3" {
		t.Errorf("asked about %q", got)
	}
	if want := map[bool]int{true: 2, false: 4}[len(asked) > 0]; len(segments) != want || segments[want-1].Number != 4 {
		t.Errorf("%d segments: %v", len(segments), segments)
	}
	wantSegmentsFrom(t, mine, from(9), "1:x1 2:x2 3:x3 4:x4")
}

func logBytes(t *testing.T, mine, theirs statebackend.Log) {
	data := "\n\x00segment 1 5\n\xff" + strings.Repeat("long ", 200_000)
	mustAppend(t, mine, 1, data)
	mustAppend(t, mine, 2, "\n")
	wantSegments(t, theirs, "1:"+data+" 2:\n")
}

func logRace(t *testing.T, mine, theirs statebackend.Log) {
	var (
		wg     sync.WaitGroup
		mu     sync.Mutex
		stored []string
	)
	for i := range 50 {
		wg.Go(func() {
			l := []statebackend.Log{mine, theirs}[i%2]
			data := fmt.Sprintf("writer %d", i)
			if err := l.Append(t.Context(), 1, []byte(data), true); err == nil {
				mu.Lock()
				defer mu.Unlock()
				stored = append(stored, data)
			}
		})
	}
	wg.Wait()
	if len(stored) != 1 {
		t.Fatalf("%d appends with one number returned nil", len(stored))
	}
	wantSegments(t, mine, "1:"+stored[0])
}

func logEnded(t *testing.T, mine, _ statebackend.Log) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := mine.Append(ctx, 1, []byte("a"), true); err == nil {
		t.Fatal("Append returned nil")
	}
	wantSegments(t, mine, "")
}
