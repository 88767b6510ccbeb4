package dispatch_test

import (
	"strings"
	"testing"

	"github.com/lockstep-iac/lockstep/github/githubtest"
)

// TestDriftOfAnAppliedHead holds that a look at changes from outside leaves an applied head applied: whatever it finds, nothing
// that was merged is left to be applied.
func TestDriftOfAnAppliedHead(t *testing.T) {
	t.Parallel()
	s := newStage(t, githubtest.Files{"net/main.tf": resource("a", "1"), "lockstep.hcl": netProject})
	n := s.pull("alice", "b", githubtest.Files{"net/b.tf": resource("b", "1")})
	s.say("alice", n, "lockstep apply")
	s.expect("the drift", s.say("alice", n, "lockstep drift"), "**Planned** `net`: no changes")
	s.expect("the status", s.status(n), "| `net` | no changes, with -refresh-only | nothing to do |", "Merge this pull request")
	if got := s.status(n); strings.Contains(got, "leaves out what the pull request changes") {
		t.Errorf("it leaves out nothing:\n%s", got)
	}
	s.headIs("before the merge", "b", "success No changes")
	before := len(s.repo.Comments(n))
	s.repo.Merge("bob", n)
	s.settle()
	if got := s.repo.Comments(n)[before:]; len(got) > 0 {
		t.Errorf("it was applied, and the merge says:\n%s", got[0].Body)
	}
	s.headIs("after the merge", "b", "success No changes")
	s.expect("a drift after the merge", s.say("alice", n, "lockstep drift"), "**Planned** `net`: no changes")
	s.headIs("a drift after the merge", "b", "success No changes")
}

// TestDriftOfAnUnappliedHead holds that it takes the place of a plan that is not applied, which a retry brings back after the merge.
func TestDriftOfAnUnappliedHead(t *testing.T) {
	t.Parallel()
	s := newStage(t, githubtest.Files{"net/main.tf": resource("a", "1"), "lockstep.hcl": netProject})
	n := s.pull("alice", "b", githubtest.Files{"net/b.tf": resource("b", "1")})
	s.say("alice", n, "lockstep drift")
	s.headIs("before the merge", "b", "action_required Not all is planned: 1 project")
	s.repo.Merge("bob", n)
	s.settle()
	s.headIs("after the merge", "b", "action_required Merged, but not applied: 1 project")
	s.say("alice", n, "lockstep drift")
	s.expect("a drift after the merge", s.status(n), "**not all is planned**", "comment `lockstep retry`")
	s.expect("a retry", s.say("alice", n, "lockstep retry"), "**Planned** `net`: 2 to add")
}
