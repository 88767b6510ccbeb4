package dispatch_test

import (
	"strings"
	"testing"

	"github.com/lockstep-iac/lockstep/functions/pipeline/runs"
	"github.com/lockstep-iac/lockstep/github"
	"github.com/lockstep-iac/lockstep/github/githubtest"
)

// TestMergeQueueAskedBy holds that requirements of who asks are about the user who put the pull request into the merge queue, at
// the check of the group and at the apply of the merge: the queue's own App merges.
func TestMergeQueueAskedBy(t *testing.T) {
	t.Parallel()
	for rule, may := range map[string]string{"by = [\"acme/sre\"]": "bob", "permission = \"admin\"": "bob", "by = [\"bob\"]": "bob", "by = [\"carol\", \"ci[bot]\"]": "ci[bot]"} {
		files := onMergeNet()
		files["lockstep.hcl"] += "require \"apply\" {\n  " + rule + "\n}\n"
		s := newStage(t, files)
		s.hub.SetTeam("acme", "sre", "bob")
		s.repo.Grant("bob", "admin")
		n := s.pull("alice", "b", githubtest.Files{"net/b.tf": resource("b", "1")})
		s.headIs(rule, "b", "success 1 project applies on merge – 2 to add, 0 to change, 0 to destroy")
		at := s.repo.Enqueue("alice", n)
		s.settle()
		s.expect("the group of somebody who may not, "+rule, s.group(at)+s.page(at), "completed action_required 1 project blocked", "`alice`")
		if s.repo.Land("lockstep") {
			t.Fatalf("%s: a plan that cannot be applied is merged", rule)
		}
		s.settle()
		at = s.repo.Enqueue(may, n)
		s.settle()
		s.expect("the group of somebody who may, "+rule, s.group(at), "completed success 1 project applies on merge")
		if !s.repo.Land("lockstep") {
			t.Fatalf("%s: it is not merged", rule)
		}
		s.settle()
		if r := s.run(n); r.Phase != runs.Applied || r.Asked.By != may {
			t.Errorf("%s: it is %s, asked for by %s: %s", rule, r.Phase, r.Asked.By, s.answer(n, "merge"))
		}
	}
}

// TestMergeQueueOwnReview holds that nobody applies to a protected environment by their own review by way of the merge queue.
func TestMergeQueueOwnReview(t *testing.T) {
	t.Parallel()
	for _, who := range []string{"bob", "carol"} {
		files := deployed()
		files["lockstep.hcl"] = strings.ReplaceAll(files["lockstep.hcl"], "dir = \"net\"\n", "dir = \"net\"\n  apply = \"merge\"\n")
		s := newStage(t, files)
		s.hub.Accepts("deployments", "write")
		s.guarded("production", githubtest.Environment{Reviewers: []string{"acme/sre"}, PreventSelfReview: true})
		s.hub.SetTeam("acme", "sre", "bob", "carol")
		s.repo.Grant("carol", "write")
		n := s.pull("alice", "b", githubtest.Files{"net/b.tf": resource("b", "1")})
		s.repo.Review("bob", n, github.Approved, "")
		s.settle()
		at := s.repo.Enqueue(who, n)
		s.settle()
		want := map[string]string{"bob": "completed action_required", "carol": "completed success"}[who]
		s.expect("the group of "+who, s.group(at), want)
		if landed := s.repo.Land("lockstep"); landed != (who == "carol") {
			t.Errorf("%s: it is merged: %t", who, landed)
		}
		s.settle()
		if applied := s.deployments() == "production success"; applied != (who == "carol") {
			t.Errorf("%s: the deployments are %s: %s", who, s.deployments(), s.answer(n, "merge"))
		}
	}
}
