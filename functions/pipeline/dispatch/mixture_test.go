package dispatch_test

import (
	"testing"

	"github.com/lockstep-iac/lockstep/github/githubtest"
)

// TestMixtureAfterTheMerge holds that an apply after the merge which fails is told with what is dropped behind it, and that the issue has
// the project that a comment applies, where one of the merge comes after it.
func TestMixtureAfterTheMerge(t *testing.T) {
	t.Parallel()
	const before, after = "project \"net\" {\n  dir = \"net\"\n", "}\nproject \"app\" {\n  dir = \"app\"\n  apply = \"merge\"\n  depends_on = [\"net\"]\n}\n"
	start := func(t *testing.T, on string) (*stage, int) {
		s := newStage(t, githubtest.Files{"net/main.tf": resource("a", "1"), "app/main.tf": resource("a", "1"), "lockstep.hcl": before + on + after})
		return s, s.pull("alice", "b", githubtest.Files{"net/b.tf": resource("b", "1"), "app/b.tf": resource("b", "1")})
	}
	issue := func(s *stage) string { return s.repo.Issues()[0].Body }
	t.Run("by comment, and on merge", func(t *testing.T) {
		s, n := start(t, "")
		s.repo.Merge("bob", n)
		s.settle()
		const left = "| **merged, not applied**, after `net` | `app` | 2 to add, 0 to change, 0 to destroy |"
		s.expect("the issue", issue(s), left, "| **merged, not applied** | `net` | 2 to add, 0 to change, 0 to destroy |")
		s.say("alice", n, "lockstep retry")
		engine := s.pipeline.Engine
		s.pipeline.Engine = halfway{engine}
		s.expect("the apply", s.say("alice", n, "lockstep apply"), "**Failed to apply** `net`: 2 added, 0 changed, 0 destroyed before the failure. The state contains these changes.", "**Not applied** `app`")
		s.expect("the issue then", issue(s), "| **failed to apply** (2 added", "| `net` | 2 to add, 0 to change, 0 to destroy |", "| ready to apply, after `net` | `app` | 2 to add, 0 to change, 0 to destroy |")
		s.pipeline.Engine = engine
		s.say("alice", n, "lockstep retry")
		s.say("alice", n, "lockstep apply")
		s.expect("the issue at the end", issue(s), "#1 is fully applied, so Lockstep closes this issue.")
		if got := s.openIssues(); len(got) > 0 {
			t.Errorf("the issues are %q", got)
		}
	})
	t.Run("on merge alone", func(t *testing.T) {
		s, n := start(t, "  apply = \"merge\"\n")
		s.pipeline.Engine = halfway{s.pipeline.Engine}
		s.repo.Merge("bob", n)
		s.settle()
		s.expect("the answer", s.answer(n, "merge"), "**Failed to apply** `net`: 2 added, 0 changed, 0 destroyed before the failure. The state contains these changes.", "**Not applied** `app`")
		s.expect("the check of the head", s.headOf("b"), "failure 1 project failed to apply, 1 merged, not applied")
		s.expect("the issue", issue(s), "`app`", "`net`")
	})
}
