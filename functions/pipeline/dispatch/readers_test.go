package dispatch_test

import (
	"strings"
	"testing"

	"github.com/lockstep-iac/lockstep/github/githubtest"
)

// TestThePlanStays holds that people can read what was applied, after the apply, the merge, and a
// close, and that those who command a merged pull request are told what works.
func TestThePlanStays(t *testing.T) {
	t.Parallel()
	s := newStage(t, githubtest.Files{"main.tf": resource("a", "1") + "output \"size\" {\n  value = \"large\"\n}\n"})
	n := s.pull("alice", "b", githubtest.Files{"b.tf": resource("b", "1")})
	s.say("alice", n, "lockstep apply")
	read := func(when string) {
		t.Helper()
		s.expect(when, s.status(n), "applied by", "size = \"large\"", "The plan that was applied", "terraform_data.b will be created")
		s.expect(when, s.checkOf("b", "lockstep/.").Text, "size = \"large\"", "The plan that was applied", "terraform_data.b will be created")
	}
	read("after the apply")
	s.repo.Merge("alice", n)
	s.settle()
	read("after the merge")
	s.expect("an apply", s.say("alice", n, "lockstep apply"), "**Not applied** `.`", "is already applied, requested by `alice`.")

	// The text is evidence for nobody, but is not exchanged unnoticed.
	two := s.pull("alice", "c", githubtest.Files{"c.tf": resource("c", "1")})
	s.repo.Close("alice", two)
	s.settle()
	s.expect("after a close", s.status(two), "closed, not applied", "terraform_data.c will be created")
	s.repo.Reopen("alice", two)
	s.settle()
	if got := artifacts(t, s); len(got) != 3+4 {
		t.Errorf("the closed pull request's text is not swept: %q", got)
	}
}

// TestBlockedPlan holds that a plan which cannot be applied, since another pull request was applied
// and is not merged, is not called ready, in comment or check.
func TestBlockedPlan(t *testing.T) {
	t.Parallel()
	s := newStage(t, githubtest.Files{"main.tf": resource("a", "1")})
	one := s.pull("alice", "one", githubtest.Files{"one.tf": resource("one", "1")})
	s.say("alice", one, "lockstep apply")
	two := s.pull("bob", "two", githubtest.Files{"two.tf": resource("two", "1")})
	const why = "#1 was applied to `.` and is not merged yet"
	s.expect("the status", s.status(two), "blocked", "| **blocked** by #1, which is applied and not merged |", why, "Lockstep plans a blocked project again once the other pull request is merged or closed")
	s.expect("the check", s.check("two"), "head lockstep: action_required 1 project blocked", "lockstep/.: action_required Blocked by #1, which is applied and not merged – 1 to add")
	for _, text := range []string{s.status(two), s.pages("two")} {
		if strings.Contains(text, "lockstep apply") {
			t.Errorf("somebody is told to apply it:\n%s", text)
		}
	}
	s.repo.Merge("alice", one)
	s.settle()
	s.expect("a new plan", s.say("bob", two, "lockstep plan"), "**Planned**")
	s.expect("the check", s.check("two"), "head lockstep: neutral 1 project ready to apply", "lockstep/.: success Ready to apply – 1 to add")
	s.expect("an apply", s.say("bob", two, "lockstep apply"), "**Applied** `.`: 1 added")
}

// TestSettingsAreQuoted holds that errors in lockstep.hcl are shown with their lines, in a pull
// request's own file and in that of the base branch.
func TestSettingsAreQuoted(t *testing.T) {
	t.Parallel()
	s := newStage(t, githubtest.Files{"main.tf": resource("a", "1")})
	n := s.pull("alice", "own", githubtest.Files{"lockstep.hcl": "project \"a\" {\n  dir   = \".\"\n  aply = \"merge\"\n}\n"})
	s.expect("its own", s.status(n), "on lockstep.hcl line 3", "3:   aply = \"merge\"", "Did you mean \"apply\"?")
	s.repo.Push("bob", "main", "Broken", githubtest.Files{"lockstep.hcl": "allow {\n  provisioner = true\n}\n"})
	m := s.pull("alice", "b", githubtest.Files{"b.tf": resource("b", "1")})
	s.expect("the base branch's", s.status(m), "The settings on the base branch have the same errors", "on lockstep.hcl line 2", "2:   provisioner = true")
}
