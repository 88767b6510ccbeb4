package comment

import (
	"strings"
	"testing"

	"github.com/lockstep-iac/lockstep/engine/plans/counting"
)

// TestQueuedHeadline is a table of applies that are under way, and of the headline of the comment and the title of the check.
func TestQueuedHeadline(t *testing.T) {
	t.Parallel()
	p := func(name string, s Standing, ahead ...Turn) ProjectStatus {
		return ProjectStatus{Name: name, Standing: s, PlanSummary: PlanSummary{Counts: counting.Counts{Forget: 1}}, Queueing: Queueing{By: "alice", Ahead: ahead, After: []string{"net"}}}
	}
	bob, merge := Turn{Number: 12, By: "bob"}, Turn{Number: 15, By: ""}
	for name, test := range map[string]struct {
		projects        []ProjectStatus
		headline, title string
	}{
		"the first in the queue": {[]ProjectStatus{p("net", ApplyQueued)}, "`net`: queued, requested by `alice` – 0 to add, 0 to change, 0 to destroy, 1 to forget (`4f2a1c9`)", "1 project applying – 0 to add, 0 to change, 0 to destroy, 1 to forget"},
		"behind others": {[]ProjectStatus{p("net", ApplyQueued, bob, merge, bob)},
			"`net`: queued (4th, behind #12 and #15), requested by `alice` – 0 to add, 0 to change, 0 to destroy, 1 to forget (`4f2a1c9`)", "1 project queued behind #12 and #15 – 0 to add, 0 to change, 0 to destroy, 1 to forget"},
		"two behind others": {[]ProjectStatus{p("net", ApplyQueued, bob), p("dns", ApplyQueued, bob, merge)},
			"2 projects queued behind #12 and #15 – 0 to add, 0 to change, 0 to destroy, 2 to forget (`4f2a1c9`)", "2 projects queued behind #12 and #15 – 0 to add, 0 to change, 0 to destroy, 2 to forget"},
		"one up to date beside it": {[]ProjectStatus{p("net", ApplyQueued, bob), p("dns", NoChanges)},
			"1 project queued behind #12 (0 to add, 0 to change, 0 to destroy, 1 to forget), 1 up to date (`4f2a1c9`)", "1 project queued behind #12 (0 to add, 0 to change, 0 to destroy, 1 to forget), 1 up to date"},
		"one after it": {[]ProjectStatus{p("net", ApplyQueued, bob), p("app", Awaiting)},
			"2 projects queued behind #12 – 0 to add, 0 to change, 0 to destroy, 2 to forget (`4f2a1c9`)", "2 projects queued behind #12 – 0 to add, 0 to change, 0 to destroy, 2 to forget"},
		"one is being applied": {[]ProjectStatus{p("net", ApplyQueued, bob), p("app", Awaiting), p("dns", Applying)},
			"2 projects applying, 1 queued behind #12 (`4f2a1c9`)", "2 projects applying, 1 queued behind #12"},
		"one is planned": {[]ProjectStatus{p("net", ApplyQueued, bob), p("dns", Ready)},
			"1 project queued behind #12, 1 ready to apply (`4f2a1c9`)", "1 project queued behind #12, 1 ready to apply"},
	} {
		h := Head{Status: Status{Head: someSHA, Projects: test.projects}, Standing: HeadApplying}
		headline, _, _ := strings.Cut(strings.TrimPrefix(h.Markdown(65536), StatusMarker+"\n### "), "\n")
		if title := h.Title(255); headline != test.headline || title != test.title {
			t.Errorf("%s: %s\n%s", name, headline, title)
		}
	}
}

// TestOrdinal holds the places of a queue.
func TestOrdinal(t *testing.T) {
	t.Parallel()
	for n, want := range map[int]string{2: "2nd", 3: "3rd", 4: "4th", 11: "11th", 12: "12th", 13: "13th", 21: "21st", 102: "102nd", 113: "113th"} {
		if got := ordinal(n); got != want {
			t.Errorf("%d is %q", n, got)
		}
	}
}
