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
		s.expect(when, s.status(n), "Lockstep has applied", "size = \"large\"", "The plan that was applied", "terraform_data.b will be created")
		s.expect(when, s.checkOf("b", "lockstep/.").Text, "size = \"large\"", "The plan that was applied", "terraform_data.b will be created")
	}
	read("after the apply")
	s.repo.Merge("alice", n)
	s.settle()
	read("after the merge")
	s.expect("an apply", s.say("alice", n, "lockstep apply"), "**Not applied** `.`", "is applied already, as `alice` asked.")

	// The text is evidence for nobody, but is not exchanged unnoticed.
	two := s.pull("alice", "c", githubtest.Files{"c.tf": resource("c", "1")})
	s.repo.Close("alice", two)
	s.settle()
	s.expect("after a close", s.status(two), "Closed, not applied", "terraform_data.c will be created")
	s.repo.Reopen("alice", two)
	s.settle()
	if got := artifacts(t, s); len(got) != 2+3 {
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
	s.expect("the status", s.status(two), "cannot be applied now", "| **blocked** |", why, "is made again by itself once that pull request is merged or closed")
	s.expect("the check", s.check("two"), "head lockstep: failure Cannot be applied now: 1 project", "lockstep/.: failure Cannot be applied now: 1 to add")
	for _, text := range []string{s.status(two), s.pages("two")} {
		if strings.Contains(text, "lockstep apply") {
			t.Errorf("somebody is told to apply it:\n%s", text)
		}
	}
	s.repo.Merge("alice", one)
	s.settle()
	s.expect("a new plan", s.say("bob", two, "lockstep plan"), "**Planned**")
	s.expect("the check", s.check("two"), "head lockstep: neutral Waits for lockstep apply", "lockstep/.: success 1 to add")
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
	s.expect("the base branch's", s.status(m), "The base branch's settings have the same errors", "on lockstep.hcl line 2", "2:   provisioner = true")
}
