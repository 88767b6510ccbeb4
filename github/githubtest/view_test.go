package githubtest

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestView(t *testing.T) {
	t.Parallel()
	h := New(Options{})
	r := h.AddRepository("acme", "infra", Files{"a": "1\n", "b": "1\n", "c": "1\n"})
	one := r.Push("alice", "one", "One", Files{"a": "2\n", "b": Deleted, "d": "new\n"})
	two := r.Push("bob", "two", "Two", Files{"a": "3\n"})
	r.OpenPull("alice", "First", "one")
	r.OpenPull("bob", "Second", "two")
	fork := r.Fork("eve")
	three := fork.Push("eve", "three", "Three", Files{"c": "2\n"})
	r.OpenPullFrom(fork, "eve", "Third", "three")

	before, after := r.Changes(1)
	if d := cmp.Diff([]Files{{"a": "1\n", "b": "1\n"}, {"a": "2\n", "d": "new\n"}}, []Files{before, after}); d != "" {
		t.Error(d)
	}
	base := r.Head("main")
	r.Push("alice", "four", "Four", Files{"b": "2\n"})
	if b, a := r.ChangesInto(one, r.Head("four")); cmp.Diff([]Files{{"b": "1\n"}, {"b": "2\n"}}, []Files{b, a}) != "" {
		t.Errorf("into a commit: %v, %v", b, a)
	}
	if b, a := r.ChangesInto(base, one); cmp.Diff([]Files{before, after}, []Files{b, a}) != "" {
		t.Errorf("into the base: %v, %v", b, a)
	}
	r.Merge("alice", 1)
	// A merged pull request changes what it did, and conflicts with nothing.
	if again, _ := r.Changes(1); cmp.Diff(before, again) != "" {
		t.Errorf("after the merge: %v", again)
	}
	r.Close("eve", 3)
	want := []PullView{
		{Number: 1, Title: "First", Author: "alice", State: "merged", From: "one", Into: "main", Head: one},
		{Number: 2, Title: "Second", Author: "bob", State: "open", From: "two", Into: "main", Head: two, Conflicts: true},
		{Number: 3, Title: "Third", Author: "eve", State: "closed", Fork: true, From: "three", Into: "main", Head: three},
	}
	if d := cmp.Diff(want, r.Pulls()); d != "" {
		t.Error(d)
	}
	if edits := h.Edits(); !edits[0].At.Before(edits[len(edits)-1].At) {
		t.Error("edits have no time")
	}
}
