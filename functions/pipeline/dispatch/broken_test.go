package dispatch_test

import (
	"strings"
	"testing"
	"time"

	"github.com/lockstep-iac/lockstep/github/githubtest"
)

// TestBrokenBase holds that an apply names the errors of the base branch's settings, and keeps the plan, which is applied once they
// are corrected.
func TestBrokenBase(t *testing.T) {
	t.Parallel()
	for what, c := range map[string]struct {
		broken string
		want   []string
	}{
		"an argument of the project": {"project \"net\" {\n  dir = \"net\"\n  color = 1\n}\n", []string{
			"The settings on the base branch have errors", "on lockstep.hcl line 3", "Correct the errors on the base branch. Then comment `lockstep apply` again: the plan stays valid."}},
		"a directory of the project": {"project \"net\" {\n  dir = \"nett\"\n}\n", []string{"The settings on the base branch have errors", "The directory nett of the project \"net\" has no configuration files"}},
		"the syntax":                 {"project \"net\" {\n  dir = \"net\"\n", []string{"settings on the base branch without errors", "`lockstep.hcl, line 1: Unclosed configuration block`"}},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			s := newStage(t, githubtest.Files{"net/main.tf": resource("a", "1"), "app/main.tf": resource("a", "1"), "lockstep.hcl": netProject})
			n := s.pull("alice", "b", githubtest.Files{"net/b.tf": resource("b", "1")})
			s.repo.Push("bob", "main", "Break it", githubtest.Files{"lockstep.hcl": c.broken})
			s.settle()
			got := s.say("alice", n, "lockstep apply")
			s.expect("the refusal", got, append(c.want, "**Not applied** `net`", "comment `lockstep apply`")...)
			if strings.Contains(got, "other files") || strings.Contains(s.status(n), "out of date") {
				t.Errorf("no file of the plan has changed:\n%s\n%s", got, s.status(n))
			}
			s.repo.Push("bob", "main", "Correct it", githubtest.Files{"lockstep.hcl": netProject})
			s.settle()
			s.expect("the apply", s.say("alice", n, "lockstep apply"), "**Applied** `net`: 2 added")
			s.headIs("applied", "b", "success 1 project applied – 2 added, 0 changed, 0 destroyed")
		})
	}
}

// TestMendedBase holds that a pull request which was looked at while the settings of the base branch had errors is looked at again
// by itself once they are corrected, and not before.
func TestMendedBase(t *testing.T) {
	t.Parallel()
	for what, broken := range map[string]string{
		"an argument of the project": "project \"net\" {\n  dir = \"net\"\n  color = 1\n}\n",
		"a directory of the project": "project \"net\" {\n  dir = \"nett\"\n}\n",
		"the syntax":                 "project \"net\" {\n  dir = \"net\"\n",
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			s := newStage(t, githubtest.Files{"net/main.tf": resource("a", "1"), "app/main.tf": resource("a", "1"), "lockstep.hcl": broken})
			n := s.pull("alice", "b", githubtest.Files{"net/b.tf": resource("b", "1")})
			s.headIs("while they have errors", "b", "failure Failed: the projects could not be determined")
			s.repo.Push("bob", "main", "More", githubtest.Files{"README.md": "more\n"})
			s.settle()
			if f := s.roundsWithin(3 * time.Hour); f.Heads != 0 {
				t.Errorf("another push has it looked at: %+v", f)
			}
			s.repo.Push("bob", "main", "Correct it", githubtest.Files{"lockstep.hcl": netProject})
			s.settle()
			if f := s.roundsWithin(30 * time.Minute); f.Heads != 1 {
				t.Errorf("%+v", f)
			}
			s.headIs("once they are corrected", "b", "neutral 1 project ready to apply – 2 to add, 0 to change, 0 to destroy")
			s.expect("the status", s.status(n), "2 to add, 0 to change, 0 to destroy")
			if f := s.roundsWithin(3 * time.Hour); f.Heads != 0 {
				t.Errorf("it is looked at without end: %+v", f)
			}
		})
	}
}

// TestBrokenByBoth holds that settings which have errors merged with those of the base branch alone are not told to be the latter's.
func TestBrokenByBoth(t *testing.T) {
	t.Parallel()
	s := newStage(t, githubtest.Files{"net/main.tf": resource("a", "1"), "app/main.tf": resource("a", "1"), "lockstep.hcl": "project \"app\" {\n  dir = \"app\"\n}\n"})
	n := s.pull("alice", "b", githubtest.Files{"lockstep.hcl": netProject})
	s.expect("the plan", s.status(n), "| ready to apply | `net` | 1 to add, 0 to change, 0 to destroy |")
	s.repo.Push("bob", "main", "Nobody plans it", githubtest.Files{"net/main.tf": githubtest.Deleted, "net/backend.tf": githubtest.Deleted})
	s.settle()
	s.expect("the refusal", s.say("alice", n, "lockstep apply -p net"), "The settings have errors once they are merged into the base branch", "The directory net of the project \"net\" has no configuration files", "in the pull request or on the base branch")
}

// TestMergeOfBrokenSettings holds that a merge tells the errors of the settings for which it applies nothing, and that a retry brings what was
// merged once they are corrected.
func TestMergeOfBrokenSettings(t *testing.T) {
	t.Parallel()
	settings := "project \"net\" {\n  dir = \"net\"\n  apply = \"merge\"\n}\n"
	s := newStage(t, githubtest.Files{"net/main.tf": resource("a", "1"), "lockstep.hcl": settings})
	n := s.pull("alice", "b", githubtest.Files{"net/b.tf": resource("b", "1")})
	s.repo.Push("bob", "main", "Break it", githubtest.Files{"lockstep.hcl": strings.Replace(settings, "apply", "aply", 1)})
	s.settle()
	s.repo.Merge("alice", n)
	s.settle()
	s.expect("the merge", s.answer(n, "merge"), "**Not applied** `net`", "The settings on the base branch have errors", "on lockstep.hcl line 3", "comment `lockstep retry`")
	s.headIs("merged", "b", "action_required 1 project merged, not applied")
	s.repo.Push("bob", "main", "Correct it", githubtest.Files{"lockstep.hcl": settings})
	s.settle()
	s.expect("the retry", s.say("alice", n, "lockstep retry"), "**Planned** `net`: 2 to add")
	s.expect("the apply", s.say("alice", n, "lockstep apply"), "**Applied** `net`: 2 added")
	s.headIs("applied", "b", "success 1 project applied – 2 added, 0 changed, 0 destroyed")
}
