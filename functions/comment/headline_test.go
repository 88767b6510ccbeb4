package comment

import (
	"strings"
	"testing"
)

// TestQueuedHeadline is a table of applies that are under way, and of the headline of the comment and the title of the check.
func TestQueuedHeadline(t *testing.T) {
	t.Parallel()
	p := func(name string, s Standing, ahead ...Turn) ProjectStatus {
		return ProjectStatus{Name: name, Standing: s, By: "alice", Ahead: ahead, After: []string{"net"}}
	}
	bob, merge := Turn{Number: 12, By: "bob"}, Turn{Number: 15, By: ""}
	for name, test := range map[string]struct {
		projects        []ProjectStatus
		headline, title string
	}{
		"the first in the queue": {[]ProjectStatus{p("net", ApplyQueued)}, "Lockstep is applying `4f2a1c9`", "Applying 1 project"},
		"behind others": {[]ProjectStatus{p("net", ApplyQueued, bob, merge, bob)},
			"The apply of `4f2a1c9` waits in the queue: place 3, behind #12 (`bob`) and #15", "In the queue behind #12 and #15: 1 project"},
		"two behind others": {[]ProjectStatus{p("net", ApplyQueued, bob), p("dns", ApplyQueued, bob, merge)},
			"The apply of `4f2a1c9` waits in the queue: behind #12 (`bob`) and #15", "In the queue behind #12 and #15: 2 of 2 projects"},
		"one with nothing to do beside it": {[]ProjectStatus{p("net", ApplyQueued, bob), p("dns", NoChanges)},
			"The apply of `4f2a1c9` waits in the queue: place 1, behind #12 (`bob`)", "In the queue behind #12: 1 of 2 projects"},
		"one after it": {[]ProjectStatus{p("net", ApplyQueued, bob), p("app", Awaiting)},
			"The apply of `4f2a1c9` waits in the queue: place 1, behind #12 (`bob`)", "In the queue behind #12: 2 of 2 projects"},
		"one is being applied": {[]ProjectStatus{p("net", ApplyQueued, bob), p("app", Awaiting), p("dns", Applying)},
			"Lockstep is applying 2 of 3 projects of `4f2a1c9`, 1 waits in the queue (place 1, behind #12 (`bob`))", "Applying 3 of 3 projects"},
		"one is planned": {[]ProjectStatus{p("net", ApplyQueued, bob), p("dns", Ready)},
			"In the queue: 1 of 2 projects of `4f2a1c9` (place 1, behind #12 (`bob`)), 1 is planned (no changes)", "In the queue behind #12: 1 of 2 projects"},
	} {
		h := Head{Status: Status{Head: someSHA, Projects: test.projects}, Standing: HeadApplying}
		headline, _, _ := strings.Cut(strings.TrimPrefix(h.Markdown(65536), StatusMarker+"\n### "), "\n")
		if title := h.Title(255); headline != test.headline || title != test.title {
			t.Errorf("%s: %s\n%s", name, headline, title)
		}
	}
}
