package dispatch_test

import (
	"context"
	"testing"

	"github.com/lockstep-iac/lockstep/functions/pipeline"
	"github.com/lockstep-iac/lockstep/functions/pipeline/runs"
	"github.com/lockstep-iac/lockstep/github/githubtest"
)

// group is the outcome of our check of a merge group.
func (s *stage) group(sha string) string {
	s.t.Helper()
	out := ""
	for _, c := range s.repo.Checks(sha) {
		if c.Name == "lockstep" {
			if out != "" {
				s.t.Error("there are two checks of a merge group")
			}
			out = string(c.Status) + " " + string(c.Conclusion) + " " + c.Title
		}
	}
	return out
}

// TestMergeQueue lets pull requests through a merge queue that wants our check: the check of a merge group is that of the
// pull request, and what the queue merges is applied.
func TestMergeQueue(t *testing.T) {
	t.Parallel()
	s := newStage(t, githubtest.Files{"net/main.tf": resource("a", "1"), "lockstep.hcl": "project \"net\" {\n  dir = \"net\"\n  apply = \"merge\"\n}\n"})
	n := s.pull("alice", "b", githubtest.Files{"net/b.tf": resource("b", "1")})
	m := s.pull("bob", "words", githubtest.Files{"doc.md": "words"})
	first, second := s.repo.Enqueue("alice", n), s.repo.Enqueue("bob", m)
	if s.repo.Land("lockstep") {
		t.Fatal("it is merged without a check")
	}
	s.settle()
	s.expect("the check of the first group", s.group(first), "completed success", "1 project")
	s.expect("the check of the second", s.group(second), "completed success", "Nothing to plan")
	for range 2 {
		if !s.repo.Land("lockstep") {
			t.Fatal("it is not merged")
		}
		s.settle()
	}
	s.expect("the status", s.status(n), "Lockstep has applied", "2 added")
	if r := s.run(n); r.Phase != runs.Applied {
		t.Errorf("%+v", r)
	}
}

// TestMergeQueueWaits holds that a group whose pull request is still planned waits, that a plan which fails keeps the group
// out, and that a new head is one that nobody has looked at.
func TestMergeQueueWaits(t *testing.T) {
	t.Parallel()
	s := newStage(t, githubtest.Files{"net/main.tf": resource("a", "1"), "lockstep.hcl": "project \"net\" {\n  dir = \"net\"\n  apply = \"merge\"\n}\n"})
	s.repo.Push("alice", "b", "B", githubtest.Files{"net/b.tf": resource("b", "1")})
	n := s.repo.OpenPull("alice", "B", "b")
	early := s.repo.Enqueue("alice", n)
	s.settle()
	s.expect("a group that was made before the plan", s.group(early), "completed success")
	s.repo.Push("alice", "b", "Broken", githubtest.Files{"net/b.tf": "resource {\n"})
	late := s.repo.Enqueue("alice", n)
	s.settle()
	s.expect("a group of a plan that fails", s.group(late), "completed failure")
	s.expect("the one before", s.group(early), "completed failure")
}

// TestMergeQueueOfWhatWaits holds that a plan which waits for its apply before the merge keeps the group out where the base
// branch wants that, and not where it does not.
func TestMergeQueueOfWhatWaits(t *testing.T) {
	t.Parallel()
	for setting, want := range map[string]string{"": "completed neutral", "check {\n  waiting = \"action_required\"\n}\n": "completed action_required"} {
		s := newStage(t, githubtest.Files{"net/main.tf": resource("a", "1"), "lockstep.hcl": "project \"net\" {\n  dir = \"net\"\n}\n" + setting})
		n := s.pull("alice", "b", githubtest.Files{"net/b.tf": resource("b", "1")})
		at := s.repo.Enqueue("alice", n)
		s.settle()
		s.expect("the check of the group", s.group(at), want, "Waits for lockstep apply")
		s.say("alice", n, "lockstep apply")
		s.expect("and then", s.group(at), "completed success", "Applied")
	}
}

// TestMergeGroupOfAnother holds that a pull request does not answer for another one that has its head.
func TestMergeGroupOfAnother(t *testing.T) {
	t.Parallel()
	s := newStage(t, githubtest.Files{"net/main.tf": resource("a", "1"), "lockstep.hcl": "project \"net\" {\n  dir = \"net\"\n}\ncheck {\n  waiting = \"action_required\"\n}\n"})
	n := s.pull("alice", "b", githubtest.Files{"net/b.tf": resource("b", "1")})
	m := s.pull("bob", "words", githubtest.Files{"doc.md": "words"})
	one, two := s.repo.Enqueue("alice", n), s.repo.Enqueue("bob", m)
	s.settle()
	s.expect("the check of the first group", s.group(one), "completed action_required")
	s.expect("the check of the second", s.group(two), "completed success")
}

// TestMergeQueueUnseen holds that the group of a head which nobody has looked at yet waits, and is told once it is planned.
func TestMergeQueueUnseen(t *testing.T) {
	t.Parallel()
	s := newStage(t, githubtest.Files{"net/main.tf": resource("a", "1"), "lockstep.hcl": "project \"net\" {\n  dir = \"net\"\n  apply = \"merge\"\n}\n"})
	s.repo.Push("alice", "b", "B", githubtest.Files{"net/b.tf": resource("b", "1")})
	n := s.repo.OpenPull("alice", "B", "b")
	at := s.repo.Enqueue("alice", n)
	var later []pipeline.Message
	if _, err := s.hub.Deliver(t.Context()); err != nil {
		t.Fatal(err)
	}
	s.drain(t.Context(), func(ctx context.Context, m pipeline.Message) error {
		if m.Kind != pipeline.Grouped {
			later = append(later, m)
			return nil
		}
		return s.pipeline.Handle(ctx, m)
	})
	s.expect("the check of the group", s.group(at), "queued", "Looking for the projects")
	for _, m := range later {
		if err := s.pipeline.Handle(t.Context(), m); err != nil {
			t.Fatal(err)
		}
	}
	s.settle()
	s.expect("and once it is planned", s.group(at), "completed success")
}
