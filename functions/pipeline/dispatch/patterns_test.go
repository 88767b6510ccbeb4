package dispatch_test

import (
	"strings"
	"testing"

	"github.com/lockstep-iac/lockstep/github/githubtest"
)

// TestPatternsWaitForTheMerge holds that the base branch's pattern and defaults decide about a new
// directory, and about one that the pull request gives a name and an occasion of its own.
func TestPatternsWaitForTheMerge(t *testing.T) {
	t.Parallel()
	s := newStage(t, githubtest.Files{
		"lockstep.hcl":         "exclude = [\"services/old\"]\n\ndefaults {\n  apply = \"merge\"\n}\n\nproject \"svc-*\" {\n  dir = \"services/*\"\n}\n",
		"services/api/main.tf": resource("api", "v1"),
		"services/old/main.tf": resource("old", "v1"),
	})
	n := s.pull("alice", "web", githubtest.Files{"services/web/main.tf": resource("web", "v1"), "services/old/main.tf": resource("old", "v2")})
	s.expect("the status", s.status(n), "svc-web", "applies on merge")
	if strings.Contains(s.status(n), "old") {
		t.Errorf("an excluded directory was planned:\n%s", s.status(n))
	}
	s.expect("an early apply", s.say("alice", n, "lockstep apply"), "**Not applied** `svc-web`", "The settings of the base branch say that merging applies `svc-web`.")
	two := s.pull("alice", "fast", githubtest.Files{
		"lockstep.hcl":         "project \"fast\" {\n  dir   = \"services/api\"\n  apply = \"comment\"\n}\n",
		"services/api/main.tf": resource("api", "v2"),
	})
	s.expect("the evasion's apply", s.say("alice", two, "lockstep apply"), "**Not applied** `fast`", "The settings of the base branch say that merging applies `fast`.")
	s.repo.Merge("bob", n)
	s.settle()
	s.expect("the answer", s.answer(n, "merge"), "**Applied** `svc-web`: 1 added, 0 changed, 0 destroyed.")
}
