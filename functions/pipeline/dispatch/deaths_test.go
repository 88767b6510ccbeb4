package dispatch_test

import (
	"strings"
	"sync/atomic"
	"testing"

	"github.com/lockstep-iac/lockstep/github"
	"github.com/lockstep-iac/lockstep/github/githubtest"
)

// TestPlanToldAgain has a plan's process die before its check is written: the check that the next try writes does not pass while a
// requirement of the base branch is missing.
func TestPlanToldAgain(t *testing.T) {
	t.Parallel()
	s := newStage(t, requiring("apply", "  approvals = 1"))
	var died atomic.Bool
	var passed atomic.Bool
	s.refuse(checks(func(c github.Check) bool {
		if strings.HasPrefix(c.Title, "Ready to apply") {
			passed.Store(true)
		}
		return strings.HasPrefix(c.Title, "Needs approval") && died.CompareAndSwap(false, true)
	}))
	s.pull("alice", "b", githubtest.Files{"net/b.tf": resource("b", "1")})
	s.expect("the check", s.check("b"), "action_required Needs approval")
	if !died.Load() || passed.Load() {
		t.Errorf("it died: %v, a check has passed: %v", died.Load(), passed.Load())
	}
}

// TestBesideIsNotTouched holds that a plan of a project that the pull request leaves alone is none of those that it changes: the
// merge plans these, once what was missing for that is there.
func TestBesideIsNotTouched(t *testing.T) {
	t.Parallel()
	files := requiring("plan", "  projects = [\"net\"]\n  approvals = 1").With(githubtest.Files{"app/main.tf": resource("a", "1")})
	files["lockstep.hcl"] = strings.Replace(files["lockstep.hcl"], "project \"net\" {\n", "project \"app\" {\n  dir = \"app\"\n}\nproject \"net\" {\n  apply = \"merge\"\n", 1)
	s := newStage(t, files)
	n := s.pull("alice", "b", githubtest.Files{"net/b.tf": resource("b", "1")})
	s.expect("the status", s.status(n), "**not met**: an approval")
	s.expect("a plan of another project", s.say("alice", n, "lockstep plan -p app"), "**Planned** `app`")
	s.hub.LoseDeliveries(1)
	s.repo.Review("bob", n, github.Approved, "")
	s.repo.Merge("bob", n)
	s.settle()
	s.expect("the status after the merge", s.status(n), "| `net` | 2 to add")
}
