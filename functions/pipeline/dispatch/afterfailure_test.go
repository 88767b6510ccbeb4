package dispatch_test

import (
	"strings"
	"testing"

	"github.com/lockstep-iac/lockstep/github/githubtest"
)

// unready is a resource whose apply fails.
func unready(name string) string {
	return strings.Replace(resource(name, "1"), "}\n", "  lifecycle {\n    postcondition {\n      condition     = self.id == \"x\"\n      error_message = \"not ready\"\n    }\n  }\n}\n", 1)
}

// TestWordsAfterAFailure holds that no apply is advised which the gate refuses, as what it comes behind has to be planned again, and that
// nobody is told to push once the pull request is merged.
func TestWordsAfterAFailure(t *testing.T) {
	t.Parallel()
	s := newStage(t, githubtest.Files{
		"net/main.tf": resource("a", "1"), "app/main.tf": resource("a", "1"), "dns/main.tf": resource("a", "1"),
		"lockstep.hcl": netProject + "project \"app\" {\n  dir = \"app\"\n  depends_on = [\"net\"]\n}\nproject \"dns\" {\n  dir = \"dns\"\n}\n",
	})
	n := s.pull("alice", "n", githubtest.Files{"net/n.tf": unready("n"), "app/n.tf": resource("n", "1")})
	s.say("alice", n, "lockstep apply")
	for what, text := range map[string]string{"the status": s.status(n), "the check": s.checkOf("n", "lockstep").Summary} {
		s.lacks(what, text, "\n\nTo apply the plan")
		s.expect(what, text, "First plan the projects that come before. Then, to apply the plan of `app`, comment `lockstep apply`")
	}
	s.expect("an apply", s.say("alice", n, "lockstep apply"), "**Not applied**")
	s.repo.Merge("alice", n)
	s.settle()
	for _, name := range []string{"lockstep/net", "lockstep"} {
		s.lacks("the check "+name, s.checkOf("n", name).Summary, "To plan again, push")
	}
	s.expect("the check", s.checkOf("n", "lockstep/net").Summary, "For a new plan of what was merged, comment `lockstep retry -p net` on the pull request.")
}

// TestWordsAfterAFailedMerge holds that nobody is told to push after an apply of the merge that has failed, and that the failure of a plan
// is not shown beside what another pull request has applied.
func TestWordsAfterAFailedMerge(t *testing.T) {
	t.Parallel()
	s := newStage(t, githubtest.Files{"net/main.tf": resource("a", "1"), "lockstep.hcl": mergedAs("net")})
	n := s.pull("alice", "n", githubtest.Files{"net/n.tf": unready("n")})
	s.merge("alice", n)
	page := s.checkOf("n", "lockstep/net").Summary
	s.lacks("the check", page, "push")
	s.expect("the check", page, "For a new plan of what was merged, comment `lockstep retry -p net` on the pull request.")
	s.expect("a plan", s.say("alice", n, "lockstep retry"), "**Failed to plan** `net`.", "not ready")
	s.merge("bob", s.pull("bob", "m", githubtest.Files{"net/n.tf": resource("n", "2")}))
	s.expect("the status", s.status(n), "applied by #2", "| applied by #2 | `net` | no plan |")
	s.lacks("the status", s.status(n), "not ready")
	s.lacks("the check", s.checkOf("n", "lockstep/net").Summary, "no changes")
}

// TestApplyOfNothingOnMerge holds that nothing is in the way of a plan without changes.
func TestApplyOfNothingOnMerge(t *testing.T) {
	t.Parallel()
	s := newStage(t, githubtest.Files{"net/main.tf": "# x\n", "lockstep.hcl": mergedAs("net")})
	n := s.pull("alice", "n", githubtest.Files{"net/n.tf": "# nothing\n"})
	answer := s.say("alice", n, "lockstep apply")
	s.expect("the apply", answer, "**Not applied** `net`", "The plan has no changes, so there is nothing to apply.")
	s.lacks("the apply", answer, "in the way")
}
