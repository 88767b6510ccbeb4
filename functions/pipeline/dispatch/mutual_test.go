package dispatch_test

import (
	"testing"

	"github.com/lockstep-iac/lockstep/github/githubtest"
)

// halves is a stage with two pull requests that change the same two projects, of which each has applied one. more are further settings of both.
func halves(t *testing.T, more string) (s *stage, one, two int) {
	t.Helper()
	s = newStage(t, githubtest.Files{
		"net/main.tf": resource("a", "1"), "app/main.tf": resource("a", "1"),
		"lockstep.hcl": "project \"net\" {\n  dir = \"net\"\n" + more + "}\nproject \"app\" {\n  dir = \"app\"\n" + more + "}\n",
	})
	one = s.pull("alice", "one", githubtest.Files{"net/one.tf": resource("one", "1"), "app/one.tf": resource("one", "1")})
	two = s.pull("bob", "two", githubtest.Files{"net/two.tf": resource("two", "1"), "app/two.tf": resource("two", "1")})
	s.expect("half of the first", s.say("alice", one, "lockstep apply -p net"), "**Applied** `net`")
	s.expect("half of the second", s.say("bob", two, "lockstep apply -p app"), "**Applied** `app`")
	return s, one, two
}

// TestEachAppliedHalf holds that two pull requests each of which has applied what the other one waits for tell the way out, and that it is one.
func TestEachAppliedHalf(t *testing.T) {
	t.Parallel()
	const out = "waits for this pull request, too. Merge both, in any order. Then comment `lockstep retry` on the one that you merged last, to apply what is missing."
	t.Run("one is merged", func(t *testing.T) {
		t.Parallel()
		s, one, two := halves(t, "")
		s.expect("the first", s.status(one), "#2 "+out)
		s.expect("the second", s.status(two), "#1 "+out)
		s.expect("an apply of the first", s.say("alice", one, "lockstep apply -p app"), "**Not applied** `app`", "#2 "+out)
		s.expect("an apply of the second", s.say("bob", two, "lockstep apply -p net"), "**Not applied** `net`", "#1 "+out)
		s.merge("alice", one)
		s.without("the second, after the merge", s.status(two), "in turn", "**blocked**")
		s.expect("the rest of the second", s.say("bob", two, "lockstep apply "+s.hash(two)), "**Applied** `net`: 1 added, 0 changed, 0 destroyed")
		s.merge("bob", two)
		s.expect("a repetition of the first", s.say("alice", one, "lockstep retry"), "**Planned** `app`: 1 to add, 0 to change, 0 to destroy")
		s.expect("the rest of the first", s.say("alice", one, "lockstep apply"), "**Applied** `app`: 1 added, 0 changed, 0 destroyed")
	})
	t.Run("one is closed", func(t *testing.T) {
		t.Parallel()
		s, one, two := halves(t, "")
		s.repo.Close("bob", two)
		s.settle()
		s.without("the first", s.status(one), "in turn", "**blocked**")
		s.expect("the rest of it", s.say("alice", one, "lockstep apply "+s.hash(one)), "**Applied** `app`: 1 added, 0 changed, 1 destroyed")
	})
	t.Run("the other one has no rest", func(t *testing.T) {
		t.Parallel()
		s, one, two := halves(t, "")
		s.repo.Push("bob", "two", "No more", githubtest.Files{"net/two.tf": githubtest.Deleted})
		s.settle()
		s.say("alice", one, "lockstep plan")
		s.expect("the first", s.status(one), "**blocked**")
		s.lacks("the first", s.status(one), "in turn")
		_ = two
	})
}
