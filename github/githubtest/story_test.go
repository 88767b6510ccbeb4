package githubtest

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// TestLines holds the line of each kind of edit.
func TestLines(t *testing.T) {
	var told []string
	l := newLog(func(e Edit) { told = append(told, e.String()) }, nil)
	for _, e := range []Edit{
		{Kind: "push", Who: "alice", Text: "topic: Change a"},
		{Kind: "pull request", Who: "alice", Number: 1, Text: "Topic"},
		{Kind: "comment", Who: "bob", Number: 1, Comment: 2, Text: "<!-- hidden -->\n\n Hello \nmore"},
		{Kind: "delete", Who: "bob", Number: 1, Comment: 2},
		{Kind: "check", Who: "app[bot]", Number: 1, Check: "plan", SHA: "0123456789", Text: "success"},
		{Kind: "check", Who: "app[bot]", Check: "plan", SHA: "0123456789", Text: "success"},
		{Kind: "merge", Who: "alice", Number: 1},
	} {
		l.Tick()
		l.note(e)
	}
	want := []string{
		"push by alice: topic: Change a",
		"pull request #1 by alice: Topic",
		"comment #2 on #1 by bob: Hello",
		"delete #2 on #1 by bob",
		"check plan on #1 by app[bot]: success",
		"check plan at 0123456 by app[bot]: success",
		"merge #1 by alice",
	}
	if diff := cmp.Diff(want, l.Lines()); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(want, told); diff != "" {
		t.Error(diff)
	}
	if last := l.Edits()[6].At; !last.Equal(epoch.Add(7*time.Minute)) || !l.Now().Equal(last) {
		t.Errorf("the last edit is of %s, now is %s", last, l.Now())
	}
	if a, b := l.nextID(), l.nextID(); a == b {
		t.Error("a number was given twice")
	}
}
