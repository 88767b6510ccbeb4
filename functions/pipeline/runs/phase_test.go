package runs

import (
	"testing"
)

// TestPhases holds that the phases hang together: all are reached, none is an end, and
// what is applied is left alone.
func TestPhases(t *testing.T) {
	reached := map[Phase]bool{New: true}
	for from, list := range follows {
		for _, to := range list {
			if _, ok := follows[to]; !ok {
				t.Errorf("%q is followed by %q, which is no phase", from, to)
			}
			reached[to] = true
		}
		if len(list) == 0 {
			t.Errorf("nothing may follow %q", from)
		}
		if left := from.UnderWay(); from.May(Queued) == left {
			t.Errorf("%q may be planned again: %v", from, !left)
		}
		if from.May(Applying) != (from == ApplyQueued || from == Continuing) {
			t.Errorf("%q may be applied: %v", from, from.May(Applying))
		}
		// An apply that goes on comes to its end first.
		if from != Dropped && from != New && from != Continuing && !from.May(Dropped) {
			t.Errorf("%q outlives its pull request", from)
		}
		Conclude(Run{Phase: from}.Standing()) // each has one
	}
	if len(reached) != len(follows) {
		t.Errorf("%d of %d phases are reached", len(reached), len(follows))
	}
	defer func() {
		if recover() == nil {
			t.Error("a step that may not follow was taken")
		}
	}()
	Run{Phase: Applied}.To(Applying)
}
