package runs

import (
	"fmt"
	"strings"
	"testing"

	"github.com/lockstep-iac/lockstep/functions/pipeline"
)

// queueOf reads turns as "7.1 8.2": the numbers of pull requests, with the tries of their runs.
func queueOf(text string) (out []Turn) {
	for _, word := range strings.Fields(text) {
		var t Turn
		if _, err := fmt.Sscanf(word, "%d.%d", &t.Pull.Number, &t.Try); err != nil {
			panic(err)
		}
		out = append(out, t)
	}
	return out
}

func queueText(queue []Turn) string {
	var words []string
	for _, t := range queue {
		words = append(words, fmt.Sprintf("%d.%d", t.Pull.Number, t.Try))
	}
	return strings.Join(words, " ")
}

// TestTurns holds the queue after a turn joins, and the turns ahead of it then.
func TestTurns(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ queue, turn, joined, ahead string }{
		{"", "7.1", "7.1", ""},
		{"8.1", "7.1", "8.1 7.1", "8.1"},
		{"8.1 7.1 9.1", "7.1", "8.1 7.1 9.1", "8.1"}, // sent again
		{"7.1 8.1", "7.2", "8.1 7.2", "8.1"},         // the earlier one is over
		{"8.1 9.3", "7.1", "8.1 9.3 7.1", "8.1 9.3"},
	} {
		turn := queueOf(test.turn)[0]
		before := queueText(queueOf(test.queue))
		queue := queueOf(test.queue)
		joined := Join(queue, turn)
		if got := queueText(joined); got != test.joined || queueText(queue) != before {
			t.Errorf("%s after %s: %s, want %s", test.turn, test.queue, got, test.joined)
		}
		r := Run{ID: ID{Pull: pipeline.Pull{Number: turn.Pull.Number}}, Asked: Asked{Try: turn.Try}}
		if got := queueText(ahead(joined, r)); got != test.ahead {
			t.Errorf("ahead of %s in %s: %s, want %s", test.turn, test.joined, got, test.ahead)
		}
	}
	if got := queueText(ahead(queueOf("8.1 9.1"), Run{ID: ID{Pull: pipeline.Pull{Number: 7}}})); got != "8.1 9.1" {
		t.Errorf("ahead of one that is not there: %s", got)
	}
}

// TestOver holds which turns are over, by the present runs of their pull requests.
func TestOver(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		try   int
		phase Phase
		over  bool
	}{
		{1, ApplyQueued, false}, {1, Applying, false}, {1, Continuing, false},
		{1, Applied, true}, {1, ApplyFailed, true}, {1, Stopped, true}, {1, Planned, true}, {1, Dropped, true}, {0, New, true},
		{2, ApplyQueued, true}, // another apply, with a turn of its own
	} {
		if got := (Turn{Try: 1}).Over(Run{Phase: test.phase, Asked: Asked{Try: test.try}}); got != test.over {
			t.Errorf("try %d, %s: %v", test.try, test.phase, got)
		}
	}
}
