package dispatch_test

import (
	"testing"

	"github.com/lockstep-iac/lockstep/functions/pipeline/runs"
	"github.com/lockstep-iac/lockstep/github/githubtest"
)

// TestAppliedAndReverted holds that a project which a pull request was applied to is planned when the head touches it no more:
// its objects are to be undone, and neither the check nor the merge passes that over.
func TestAppliedAndReverted(t *testing.T) {
	t.Parallel()
	for _, how := range []string{"revert", "force-push"} {
		s := newStage(t, githubtest.Files{"net/main.tf": resource("a", "1"), "README.md": "hello"})
		n := s.pull("alice", "b", githubtest.Files{"net/b.tf": resource("b", "1")})
		s.expect(how, s.say("alice", n, "lockstep apply"), "**Applied**")
		docs := githubtest.Files{"README.md": "x"}
		if how == "revert" {
			s.repo.Push("alice", "b", "Revert", githubtest.Files{"net/b.tf": githubtest.Deleted, "README.md": "x"})
		} else {
			s.repo.ForcePush("alice", "b", "Docs only", docs)
		}
		s.settle()
		s.expect(how+": the status", s.status(n), "`net`", "1 to destroy")
		s.headIs(how, "b", "neutral 1 project ready to apply – 0 to add, 0 to change, 1 to destroy")
		s.expect(how+": undone", s.say("alice", n, "lockstep apply"), "**Applied** `net`", "1 destroyed")
		s.repo.Merge("alice", n)
		s.settle()
		m := s.pull("bob", "c", githubtest.Files{"net/c.tf": resource("c", "1")})
		s.expect(how+": another one", s.status(m), "1 to add, 0 to change, 0 to destroy", "`lockstep apply`")
	}
}

// TestAppliedAndLeft holds that the merge of a head which leaves an applied project alone is not silent: nobody had planned it,
// since the head came with the merge, or the project is none any more.
func TestAppliedAndLeft(t *testing.T) {
	t.Parallel()
	s := newStage(t, githubtest.Files{"net/main.tf": resource("a", "1"), "README.md": "hello"})
	n := s.pull("alice", "b", githubtest.Files{"net/b.tf": resource("b", "1")})
	s.say("alice", n, "lockstep apply")
	s.repo.ForcePush("alice", "b", "Docs only", githubtest.Files{"README.md": "x"})
	s.repo.Merge("alice", n)
	s.settle()
	s.expect("merged at once", s.answer(n, "merge"), "**Planned** `net`: 0 to add, 0 to change, 1 to destroy")
	if r := s.run(n); r.Phase != runs.Planned || !r.Spec.AfterMerge {
		t.Errorf("%+v", r)
	}

	s = newStage(t, githubtest.Files{"net/main.tf": resource("a", "1"), "README.md": "hello"})
	n = s.pull("alice", "b", withBackends(githubtest.Files{"app/main.tf": resource("b", "1")}))
	s.expect("a new project", s.say("alice", n, "lockstep apply"), "**Applied** `app`")
	s.repo.ForcePush("alice", "b", "Docs only", githubtest.Files{"README.md": "x"})
	s.settle()
	s.expect("the status", s.status(n), "`app` was applied from this pull request", "nobody plans the objects")
	s.repo.Merge("alice", n)
	s.settle()
	s.expect("the answer to the merge", s.answer(n, "merge"), "was merged, without a plan of the project.")
}
