package githubtest

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// tell plays a little story and returns its lines.
func tell() []string {
	h := New(Options{})
	r := h.AddRepository("acme", "infra", Files{"a": "1\n", "b": "1\n"})
	r.Push("alice", "one", "Change a", Files{"a": "2\n", "c": "new\n"})
	r.Push("bob", "two", "Change b", Files{"b": Deleted})
	one, two := r.OpenPull("alice", "One", "one"), r.OpenPull("bob", "Two", "two")
	id := r.Comment("carol", one, "Well done.\nReally.")
	r.EditComment("carol", id, "Well done!")
	r.Merge("alice", one)
	r.UpdateBranch("bob", two)
	r.Close("bob", two)
	return append(h.Lines(), r.Head("main"), r.Head("two"))
}

// TestStoriesRepeat holds that the same story is told in the same words.
func TestStoriesRepeat(t *testing.T) {
	first := tell()
	if diff := cmp.Diff(first, tell()); diff != "" {
		t.Error(diff)
	}
	want := []string{
		"push by alice: one: Change a",
		"push by bob: two: Change b",
		"pull request #1 by alice: One",
		"pull request #2 by bob: Two",
		"comment #1 on #1 by carol: Well done.",
		"edit #1 on #1 by carol: Well done!",
		"merge #1 by alice",
		"push by bob: two: Merge branch 'main' into two",
		"close #2 by bob",
	}
	if diff := cmp.Diff(want, first[:len(first)-2]); diff != "" {
		t.Error(diff)
	}
}

func TestMerges(t *testing.T) {
	h := New(Options{})
	r := h.AddRepository("acme", "infra", Files{"a": "1", "b": "1", "same": "1", "gone": "1"})
	r.Push("alice", "one", "One", Files{"a": "2", "same": "2", "gone": Deleted, "new": "new"})
	r.Push("bob", "two", "Two", Files{"b": "2", "same": "2", "gone": Deleted})
	r.Push("bob", "three", "Three", Files{"a": "3", "gone": "changed"})
	one := r.OpenPull("alice", "One", "one")
	two := r.OpenPull("bob", "Two", "two")
	three := r.OpenPull("bob", "Three", "three")
	r.Merge("alice", one)
	merged := r.Merge("alice", two)
	if diff := cmp.Diff(Files{"a": "2", "b": "2", "same": "2", "new": "new"}, h.history[merged].Files); diff != "" {
		t.Error(diff)
	}
	defer func() {
		if s, _ := recover().(string); !strings.Contains(s, "conflicts in a, gone") {
			t.Errorf("a conflict: %q", s)
		}
	}()
	r.UpdateBranch("bob", three)
}
