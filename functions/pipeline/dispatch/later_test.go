package dispatch_test

import (
	"strings"
	"testing"

	"github.com/lockstep-iac/lockstep/github"
	"github.com/lockstep-iac/lockstep/github/githubtest"
)

// TestApplyOfALaterPlan holds that a comment which asks for an apply that is the merge's is told what is in the way of that one, and
// sent to no merge that applies nothing.
func TestApplyOfALaterPlan(t *testing.T) {
	t.Parallel()
	const merges, comes = "To apply the plan, merge the pull request.", "Resolve the other points of this list, before or after the merge"
	onMerge := func(hcl string) string {
		return strings.Replace(hcl, "dir = \"net\"", "dir = \"net\"\n  apply = \"merge\"", 1)
	}
	told := func(s *stage, what, answer string, parts ...string) {
		s.expect(what, answer, parts...)
		if strings.Contains(answer, merges) || strings.Contains(answer, "comment `lockstep apply`") {
			t.Errorf("%s: it is not so:\n%s", what, answer)
		}
	}

	files := requiring("apply", "  approvals = 1")
	files["lockstep.hcl"] = onMerge(files["lockstep.hcl"])
	s := newStage(t, files)
	n := s.pull("alice", "b", githubtest.Files{"net/b.tf": resource("b", "1")})
	told(s, "without an approval", s.say("alice", n, "lockstep apply"), "The settings of the base branch say that merging applies", "**not met**: an approval of the planned commit", comes)
	s.repo.Review("bob", n, github.Approved, "")
	s.settle()
	s.expect("with it", s.say("alice", n, "lockstep apply"), merges)
	const part = "`-target=terraform_data.b`, which leaves out changes of the pull request, so the merge will not apply this plan."
	s.say("alice", n, "lockstep plan -target=terraform_data.b")
	told(s, "a part", s.say("alice", n, "lockstep apply"), part, "Comment `lockstep plan -p net`")
	s.say("alice", n, "lockstep plan -p net")
	s.expect("all of it", s.say("alice", n, "lockstep apply"), merges)

	s = newStage(t, githubtest.Files{"net/main.tf": resource("a", "1"), "lockstep.hcl": onMerge("project \"net\" {\n  dir = \"net\"\n}\n")})
	n = s.pull("alice", "b", githubtest.Files{"net/b.tf": resource("b", "1")})
	other := s.pull("bob", "c", githubtest.Files{"net/c.tf": resource("c", "1")})
	s.repo.Merge("bob", other)
	s.settle()
	for _, command := range []string{"lockstep apply", "lockstep apply " + s.run(n).Plan.Hash[:12]} {
		told(s, "another plan", s.say("alice", n, command), "this plan has changed and nobody has confirmed it", "Comment `lockstep plan -p net`, and read that plan.")
	}
	s.say("alice", n, "lockstep plan -p net")
	s.repo.Merge("alice", n)
	s.settle()
	s.expect("the merge after that", s.answer(n, "merge"), "**Applied** `net`")
}

// TestMixedOccasions holds that nothing waits for what cannot come: a project that depends on one that is applied on merge is applied
// on merge, too; and one that is applied on merge tells of one that has to be applied before.
func TestMixedOccasions(t *testing.T) {
	t.Parallel()
	both := githubtest.Files{"net/b.tf": resource("b", "1"), "app/b.tf": resource("b", "1")}
	start := func(from, to string) (*stage, int) {
		s := newStage(t, githubtest.Files{"net/main.tf": resource("a", "1"), "app/main.tf": resource("a", "1"), "lockstep.hcl": strings.Replace(appLast, from, to, 1) + "check {\n  waiting = \"action_required\"\n}\n"})
		return s, s.pull("alice", "b", both)
	}
	s, n := start("dir = \"net\"", "dir = \"net\"\n  apply = \"merge\"")
	s.expect("both", s.status(n), "| applies on merge", "| `app` | 2 to add, 0 to change, 0 to destroy |")
	s.expect("the apply of the second", s.say("alice", n, "lockstep apply -p app"), "The settings of the base branch say that merging applies `app`.", "To apply the plan, merge the pull request.")
	for _, c := range s.repo.Checks(s.repo.Head("b")) {
		if c.Conclusion != "success" {
			t.Errorf("%s: %s", c.Name, c.Conclusion)
		}
	}
	s.repo.Merge("alice", n)
	s.settle()
	s.expect("the merge", s.answer(n, "merge"), "**Applied** `net`", "**Applied** `app`")

	s, n = start("dir = \"app\"", "dir = \"app\"\n  apply = \"merge\"")
	s.expect("the second alone", s.say("alice", n, "lockstep apply -p app"), "`app` depends on `net`, which is not applied.", "First apply that project: comment `lockstep apply -p net`.", "resolve the other points of this list")
	s.expect("the first", s.say("alice", n, "lockstep apply -p net"), "**Applied** `net`")
	s.expect("the second then", s.say("alice", n, "lockstep apply -p app"), "To apply the plan, merge the pull request.")
	s.repo.Merge("alice", n)
	s.settle()
	s.expect("the merge", s.answer(n, "merge"), "**Applied** `app`")
}

// TestOrderOfThePullRequestsOwn holds that a pull request which makes a project depend on one that the merge applies does not change when
// the former is applied, and tells of the way that is left.
func TestOrderOfThePullRequestsOwn(t *testing.T) {
	t.Parallel()
	onMerge := func(hcl string) string {
		return strings.Replace(hcl, "dir = \"net\"", "dir = \"net\"\n  apply = \"merge\"", 1)
	}
	s := newStage(t, githubtest.Files{"net/main.tf": resource("a", "1"), "app/main.tf": resource("a", "1"), "lockstep.hcl": onMerge(unordered)})
	n := s.pull("alice", "b", githubtest.Files{"net/b.tf": resource("b", "1"), "app/b.tf": resource("b", "1"), "lockstep.hcl": onMerge(appLast)})
	const after = "`net` applies on merge, and not before. After the merge, comment `lockstep retry` for a new plan, and apply it."
	texts := map[string]string{"status": s.status(n), "check": s.checkOf("b", "lockstep/app").Summary, "apply": s.say("alice", n, "lockstep apply -p app")}
	s.expect("the status", texts["status"], "| ready to apply after the merge, after `net` |", "in a pull request of its own. Then comment `lockstep plan` here.")
	s.expect("the check", texts["check"], "This project is applied after `net`, which it depends on. "+after)
	s.expect("an apply", texts["apply"], "`app` depends on `net`, which is not applied.", "`net` applies on merge, and not before. Choose one:\n\n- After the merge, comment `lockstep retry`", "- To apply `app` before the merge, remove its `depends_on` from this pull request")
	for what, text := range texts {
		if strings.Contains(text, "lockstep apply") {
			t.Errorf("no apply helps, says the %s:\n%s", what, text)
		}
	}
	s.expect("the head", s.checkOf("b", "lockstep").Title, "1 ready to apply after the merge")
	s.repo.Merge("alice", n)
	s.settle()
	s.expect("the merge", s.answer(n, "merge"), "**Applied** `net`", "**Merged, not applied**: `app`")
	s.say("alice", n, "lockstep retry")
	s.expect("the plan after it", s.status(n), "| ready to apply | `app` | 2 to add, 0 to change, 0 to destroy |")
	s.expect("the apply after it", s.say("alice", n, "lockstep apply"), "**Applied** `app`: 2 added")
}

// TestOrderMergedFirst holds that a pull request with an order of its own, which the base branch's check keeps out, tells of the way on,
// and that this way leads on.
func TestOrderMergedFirst(t *testing.T) {
	t.Parallel()
	enforced := func(hcl string) string {
		return strings.Replace(hcl, "dir = \"net\"", "dir = \"net\"\n  apply = \"merge\"", 1) + "check {\n  waiting = \"action_required\"\n}\n"
	}
	s := newStage(t, githubtest.Files{"net/main.tf": resource("a", "1"), "app/main.tf": resource("a", "1"), "db/main.tf": resource("a", "1"), "lockstep.hcl": enforced(unordered)})
	both := githubtest.Files{"net/b.tf": resource("b", "1"), "app/b.tf": resource("b", "1"), "lockstep.hcl": enforced(appLast)}
	n := s.pull("alice", "b", both)
	const first = "in a pull request of its own. Then comment `lockstep plan` here."
	head := s.checkOf("b", "lockstep")
	s.expect("the head", head.Title+"\n"+head.Summary, "1 ready to apply after the merge", "This check passes once they are applied.", "Merge that change of order first", first)
	s.expect("the project", s.checkOf("b", "lockstep/app").Summary, first)
	s.expect("the status", s.status(n), first)
	s.expect("an apply", s.say("alice", n, "lockstep apply -p app"), first)
	if head.Conclusion != github.ConcludedActionRequired {
		t.Errorf("the head: %s", head.Conclusion)
	}
	order := s.pull("bob", "order", githubtest.Files{"lockstep.hcl": enforced(appLast)})
	s.repo.Merge("bob", order)
	s.settle()
	s.say("alice", n, "lockstep plan")
	for _, c := range s.repo.Checks(s.repo.Head("b")) {
		if c.Conclusion != github.ConcludedSuccess {
			t.Errorf("%s, once the order is merged: %s", c.Name, c.Conclusion)
		}
	}
	s.repo.Merge("alice", n)
	s.settle()
	s.expect("the merge", s.answer(n, "merge"), "**Applied** `net`", "**Applied** `app`")
}
