package dispatch_test

import (
	"testing"

	"github.com/lockstep-iac/lockstep/functions/pipeline/runs"
)

// TestSharedOldHead presses Re-run on the shared check run of a former head, and a stranger presses that of the present one.
func TestSharedOldHead(t *testing.T) {
	t.Parallel()
	s := newSharing(t, "a b c d e f")
	n := s.pull("alice", "one", in("a b c d e f", "1"))
	old := s.checkOf("one", "lockstep/projects 3-5 (#1)")
	s.repo.ForcePush("alice", "one", "Less", in("a b f", "2"))
	s.settle()
	for _, who := range []string{"bob", "mallory"} {
		s.repo.Rerequest(who, old.ID)
		s.settle()
		s.repo.Press(who, old.ID, old.Buttons[0].Identifier)
		s.settle()
	}
	for _, project := range []string{"a", "b", "f"} {
		if got := s.runAt(n, project).Asked.Attempt; got != 2 {
			t.Errorf("%s is planned %d times, want 2", project, got)
		}
	}
}

// TestSharedMissingEntry is about a process that dies after a plan has failed and before its entry is written, or about an
// entry that was deleted. The shared check run must not pass without the project.
func TestSharedMissingEntry(t *testing.T) {
	t.Parallel()
	s := newSharing(t, "a b c d e")
	change := in("a b c d e", "1")
	change["e/b.tf"] = "resource"
	n := s.pull("alice", "one", change)
	r := s.runAt(n, "e")
	key := runs.SharedProjectKey(r)
	rec, err := s.records.Get(t.Context(), key)
	if err != nil {
		t.Fatal(err)
	}
	t.Log(s.sharers("one"), s.checkOf("one", "lockstep/projects 3-5 (#1)").Conclusion)
	if err := s.records.Delete(t.Context(), key, rec.Version); err != nil {
		t.Fatal(err)
	}
	s.unchecked = true
	s.say("bob", n, "lockstep plan -p d")
	if c := s.checkOf("one", "lockstep/projects 3-5 (#1)"); c.Conclusion == "success" || c.Conclusion == "neutral" {
		t.Errorf("the shared check run says %s, %s, and e has failed: %s", c.Conclusion, c.Title, s.sharers("one"))
	}
}
