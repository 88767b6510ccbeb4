package dispatch_test

import (
	"strings"
	"testing"

	"github.com/lockstep-iac/lockstep/github"
	"github.com/lockstep-iac/lockstep/github/githubtest"
)

// twoNamed are settings with two projects, one of which depends on the other, whose name is given.
func twoNamed(name string, more ...string) string {
	lines := strings.Join(more, "\n")
	return "project \"" + name + "\" {\n  dir = \"net\"\n}\nproject \"app\" {\n  dir = \"app\"\n  depends_on = [\"" + name + "\"]\n}\n" + lines
}

// newNamed is a stage with such projects, both applied and merged.
func newNamed(t *testing.T, more ...string) (*stage, buckets) {
	t.Helper()
	s, b := newBuckets(t, githubtest.Files{"net/main.tf": resource("a", "1"), "app/main.tf": resource("a", "1"), "lockstep.hcl": twoNamed("net", more...)})
	n := s.pull("alice", "z", githubtest.Files{"net/z.tf": resource("z", "1"), "app/z.tf": resource("z", "1")})
	s.say("alice", n, "lockstep apply")
	s.repo.Merge("alice", n)
	s.settle()
	return s, b
}

// renames merges a pull request that changes the settings.
func (s *stage) renames(settings string) {
	s.t.Helper()
	s.repo.Merge("alice", s.pull("alice", "rename", githubtest.Files{"lockstep.hcl": settings}))
	s.settle()
}

// mergedAs are settings with one project of a name, which the merge applies.
func mergedAs(name string) string {
	return "project \"" + name + "\" {\n  dir = \"net\"\n  apply = \"merge\"\n}\n"
}

// TestPlanOfOneLeavesTheRenamed holds that a project which the base branch has renamed is none that is gone: a plan of another one
// leaves it, so the required check does not pass, the order holds, and the old name is understood.
func TestPlanOfOneLeavesTheRenamed(t *testing.T) {
	t.Parallel()
	s, b := newNamed(t)
	n := s.pull("bob", "q", githubtest.Files{"net/q.tf": resource("q", "1"), "app/q.tf": resource("q", "1")})
	s.renames(twoNamed("network"))
	s.say("bob", n, "lockstep plan -p app")
	s.expect("the status", s.status(n), "| **out of date** | `net` | 1 to add, 0 to change, 0 to destroy |", "**The base branch has renamed `net` to `network`**")
	s.lacks("the status", s.status(n), "has removed")
	answer := s.say("bob", n, "lockstep apply")
	s.expect("the apply", answer, "**Not applied** `app`", "`app` depends on `network`, which is not applied", "The plan of `network` cannot be applied as it is. First comment `lockstep plan -p network`, and read the result.")
	if c := s.checkOf("q", "lockstep"); c.Conclusion != github.ConcludedActionRequired {
		t.Errorf("the required check: %s %s", c.Conclusion, c.Title)
	}
	s.expect("a plan by the old name", s.say("bob", n, "lockstep plan -p net"), "**Planned** `network`: 1 to add")
	s.expect("the status", s.status(n), "| `network` | 1 to add, 0 to change, 0 to destroy |", "**The base branch has renamed `net` to `network`**")
	s.lacks("the status", s.status(n), "out of date")
	s.expect("an apply by the old name", s.say("bob", n, "lockstep apply -p net"), "has renamed `net` to `network`", "`lockstep apply -p network`")
	s.expect("the apply", s.say("bob", n, "lockstep apply"), "**Applied** `network`", "**Applied** `app`")
	if c := s.checkOf("q", "lockstep"); c.Conclusion != github.ConcludedSuccess {
		t.Errorf("the required check: %s %s\n%s", c.Conclusion, c.Title, c.Summary)
	}
	s.expect("the check of the old name", s.checkOf("q", "lockstep/net").Title, "Superseded, as the project is network now")
	s.repo.Merge("bob", n)
	s.settle()
	if got := b.objects(t, "s3://states/net"); got != "a q z" {
		t.Errorf("the state has %s", got)
	}
}

// TestRetryOfRenamed holds that what was merged of a project which the base branch has renamed is planned under the new name.
func TestRetryOfRenamed(t *testing.T) {
	t.Parallel()
	for _, command := range []string{"lockstep retry", "lockstep plan -p net", "lockstep plan"} {
		t.Run(command, func(t *testing.T) {
			t.Parallel()
			s, b := newBuckets(t, githubtest.Files{"net/main.tf": resource("a", "1"), "lockstep.hcl": mergedAs("net")})
			n := s.pull("bob", "q", githubtest.Files{"net/q.tf": resource("q", "1")})
			s.renames(mergedAs("network"))
			s.repo.Merge("bob", n)
			s.settle()
			s.expect("the merge", s.answer(n, "merge"), "**Not applied** `net`")
			s.expect("the answer", s.say("bob", n, command), "**Planned** `network`: 1 to add")
			s.expect("the status", s.status(n), "**The base branch has renamed `net` to `network`**")
			if all := s.repo.Issues(); len(all) != 1 || !all[0].Open || !strings.Contains(all[0].Body, "`network`") {
				t.Errorf("the issues: %+v", all)
			}
			if c := s.checkOf("q", "lockstep"); c.Conclusion == github.ConcludedSuccess {
				t.Errorf("the required check: %s %s", c.Conclusion, c.Title)
			}
			s.expect("the apply", s.say("bob", n, "lockstep apply"), "**Applied** `network`: 1 added")
			if s.repo.Issues()[0].Open {
				t.Errorf("the issue is open: %s", s.repo.Issues()[0].Body)
			}
			if got := b.objects(t, "s3://states/net"); got != "a q" {
				t.Errorf("the state has %s", got)
			}
		})
	}
}

// TestRenamedIsAppliedByAnother holds that what a merge has left of a project is applied by another pull request under its new name,
// too: the issue is closed.
func TestRenamedIsAppliedByAnother(t *testing.T) {
	t.Parallel()
	s, b := newBuckets(t, githubtest.Files{"net/main.tf": resource("a", "1"), "lockstep.hcl": mergedAs("net")})
	n := s.pull("bob", "q", githubtest.Files{"net/q.tf": resource("q", "1")})
	s.renames(mergedAs("network"))
	s.repo.Merge("bob", n)
	s.settle()
	s.repo.Merge("alice", s.pull("alice", "o", githubtest.Files{"net/o.tf": resource("o", "1")}))
	s.settle()
	if got := b.objects(t, "s3://states/net"); got != "a o q" {
		t.Errorf("the state has %s", got)
	}
	if i := s.repo.Issues()[0]; i.Open || !strings.Contains(i.Body, "by #3") {
		t.Errorf("the issue: %+v", i)
	}
}

// TestIssueOfRemoved holds that nothing is told as applied which the base branch has removed.
func TestIssueOfRemoved(t *testing.T) {
	t.Parallel()
	s, _ := newBuckets(t, githubtest.Files{"net/main.tf": resource("a", "1"), "app/main.tf": resource("a", "1"), "lockstep.hcl": mergedAs("net") + "project \"app\" {\n  dir = \"app\"\n}\n"})
	n := s.pull("bob", "q", githubtest.Files{"net/q.tf": resource("q", "1")})
	s.repo.Push("alice", "main", "Other files", githubtest.Files{"net/x.tf": resource("x", "1")})
	s.repo.Merge("bob", n)
	s.settle()
	s.expect("the merge", s.answer(n, "merge"), "**Not applied** `net`")
	s.repo.Merge("alice", s.pull("alice", "gone", githubtest.Files{"net/main.tf": githubtest.Deleted, "net/backend.tf": githubtest.Deleted, "net/q.tf": githubtest.Deleted, "net/x.tf": githubtest.Deleted, "lockstep.hcl": "project \"app\" {\n  dir = \"app\"\n}\n"}))
	s.settle()
	s.say("bob", n, "lockstep retry")
	all := s.repo.Issues()
	i := all[len(all)-1]
	s.expect("the issue", i.Body, "The base branch has removed `net` since, so there is nothing left to plan or apply.")
	s.lacks("the issue", i.Body, "is applied.\n")
}

// TestRenamedUnderAPlan holds that an open plan which is made again, as another pull request was applied to its state, is out of date
// where the project has another name by now, and that what it was asked for is done by that one.
func TestRenamedUnderAPlan(t *testing.T) {
	t.Parallel()
	s, b := newNamed(t)
	n := s.pull("bob", "q", githubtest.Files{"net/q.tf": resource("q", "1")})
	o := s.pull("alice", "o", githubtest.Files{"net/o.tf": resource("o", "1")})
	s.say("alice", o, "lockstep apply")
	s.renames(twoNamed("network"))
	s.repo.Merge("alice", o)
	s.settle()
	s.expect("the status", s.status(n), "**out of date**", "**The base branch has renamed `net` to `network`**")
	if c := s.checkOf("q", "lockstep"); c.Conclusion != github.ConcludedActionRequired {
		t.Errorf("the required check: %s %s", c.Conclusion, c.Title)
	}
	s.expect("the apply", s.say("bob", n, "lockstep apply"), "**Not applied** `net`")
	s.expect("the plan", s.say("bob", n, "lockstep plan --failed"), "**Planned** `network`: 1 to add")
	s.expect("the apply", s.say("bob", n, "lockstep apply"), "**Applied** `network`: 1 added")
	if got := b.objects(t, "s3://states/net"); got != "a o q z" {
		t.Errorf("the state has %s", got)
	}
}

// TestRenameCanPass holds that a pull request which renames a project and changes it is none that waits for an apply which is refused
// until it is merged: its check lets it be merged, whatever the base branch wants of others, and all of it is applied afterwards.
func TestRenameCanPass(t *testing.T) {
	t.Parallel()
	enforced := "check {\n  waiting = \"action_required\"\n}\n"
	s, b := newNamed(t, enforced)
	n := s.pull("alice", "r", githubtest.Files{"lockstep.hcl": twoNamed("network", enforced), "net/n.tf": resource("n", "1"), "app/n.tf": resource("n", "1")})
	s.expect("the status", s.status(n), "| ready to apply after the merge | `network` | 1 to add, 0 to change, 0 to destroy |", "| ready to apply after the merge, after `network` | `app` | 1 to add, 0 to change, 0 to destroy |",
		"ready to apply after the merge |")
	s.lacks("the status", s.status(n), "To apply this plan")
	c := s.checkOf("r", "lockstep")
	if c.Conclusion != github.ConcludedNeutral || !strings.HasPrefix(c.Title, "2 projects ready to apply after the merge – 2 to add") {
		t.Errorf("the required check: %s %s\n%s", c.Conclusion, c.Title, c.Summary)
	}
	s.lacks("the check", c.Summary, "requires plans to be applied before the merge")
	s.expect("the check of the project", s.checkOf("r", "lockstep/network").Summary, "The base branch still has this project under the name `net`, so it can be applied only after the merge.", "`lockstep retry`")
	s.lacks("the check of the project", s.checkOf("r", "lockstep/network").Summary, "To apply this plan")
	s.expect("an apply", s.say("alice", n, "lockstep apply -p network"), "**Not applied** `network`", "Merge the pull request first", "`lockstep retry`")
	s.expect("an apply of what depends on it", s.say("alice", n, "lockstep apply -p app"), "**Not applied** `app`", "Merge the pull request first", "`lockstep retry`")
	s.repo.Merge("alice", n)
	s.settle()
	s.expect("the merge", s.answer(n, "merge"), "`network`", "`lockstep retry`")
	s.expect("the plans after it", s.say("alice", n, "lockstep retry"), "**Planned** `network`", "**Planned** `app`")
	s.expect("the applies after it", s.say("alice", n, "lockstep apply"), "**Applied** `network`", "**Applied** `app`")
	if got := b.objects(t, "s3://states/net") + ", " + b.objects(t, "s3://states/app"); got != "a n z, a n z" {
		t.Errorf("the states have %s", got)
	}
}

// TestAnotherWorkspace holds that an open pull request is not done, and not merged in silence, where the base branch has given the
// project that it changes another workspace since.
func TestAnotherWorkspace(t *testing.T) {
	t.Parallel()
	for _, commands := range [][]string{{"lockstep plan"}, {"lockstep retry"}, nil} {
		s, _ := orphaning(t, anyState)
		q := s.pull("bob", "q", githubtest.Files{"net/q.tf": resource("q", "1")})
		s.merge("alice", s.pull("alice", "n", githubtest.Files{"lockstep.hcl": "project \"net\" {\n  dir = \"net\"\n  workspace = \"eu\"\n}\n" + appAlone + anyState}))
		s.expect("the check", s.headOf("q"), "action_required")
		s.expect("the status", s.status(q), "**out of date**", "**The base branch has given `net` another workspace** since the plan.")
		s.expect("an apply", s.say("bob", q, "lockstep apply"), "**Not applied** `net`", "lockstep plan")
		for _, command := range commands {
			s.expect(command, s.say("bob", q, command), "**Planned** `net`: 3 to add")
			s.lacks("the status after "+command, s.status(q), "out of date")
			s.expect("the check after "+command, s.headOf("q"), "neutral 1 project ready to apply")
			s.expect("the apply", s.say("bob", q, "lockstep apply"), "**Applied** `net`: 3 added")
			s.expect("the check after the apply", s.headOf("q"), "success 1 project applied")
		}
		s.merge("bob", q)
		if commands == nil {
			s.expect("the merge", s.answer(q, "merge"), "**Merged, not applied**: `net`")
			s.expect("a retry", s.say("bob", q, "lockstep retry"), "**Planned** `net`: 3 to add")
			s.expect("its apply", s.say("bob", q, "lockstep apply"), "**Applied** `net`: 3 added")
			s.expect("the check at the end", s.headOf("q"), "success 1 project applied")
		}
	}
}
