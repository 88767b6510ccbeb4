package dispatch_test

import (
	"testing"
	"time"

	"github.com/lockstep-iac/lockstep/github/githubtest"
)

// TestDefaultBranchRenamed holds that plans, locks and applies of pull requests are in force once their base branch has another name,
// which GitHub has them go into by itself.
func TestDefaultBranchRenamed(t *testing.T) {
	t.Parallel()
	for _, lost := range []bool{false, true} {
		s, b := newBuckets(t, githubtest.Files{"net/main.tf": resource("a", "1"), "app/main.tf": resource("a", "1"), "lockstep.hcl": "apply_unseen = true\nproject \"net\" {\n  dir = \"net\"\n}\nproject \"app\" {\n  dir = \"app\"\n}\n"})
		n := s.pull("alice", "b", githubtest.Files{"net/b.tf": resource("b", "1"), "app/b.tf": resource("b", "1")})
		s.expect("the apply", s.say("alice", n, "lockstep apply -p net"), "**Applied** `net`")
		s.expect("the lock", s.say("alice", n, "lockstep lock -p app --reason mine"), "**Locked** `app`")
		m := s.pull("bob", "c", githubtest.Files{"net/c.tf": resource("c", "1")})
		o := s.pull("bob", "d", githubtest.Files{"app/d.tf": resource("d", "1")})
		if lost {
			s.hub.LoseDeliveries(1 << 10)
		}
		githubtest.RenameBranch(s.repo, "alice", "main", "trunk")
		s.settle()
		if lost {
			s.hub.LoseDeliveries(0)
			s.roundsWithin(time.Hour)
		}
		s.expect("behind the apply", s.status(m), "**blocked**", "#1 was applied to `net` and is not merged yet")
		s.expect("behind the lock", s.status(o), "**locked by #1**", "Locked by #1: `alice` has locked the state")
		s.expect("the rest", s.say("alice", n, "lockstep apply -p app"), "**Applied** `app`")
		s.repo.Merge("alice", n)
		s.settle()
		s.expect("after the merge", s.say("bob", m, "lockstep plan\nlockstep apply"), "**Planned** `net`", "**Applied** `net`")
		s.expect("after the merge", s.say("bob", o, "lockstep plan\nlockstep apply"), "**Planned** `app`", "**Applied** `app`")
		if got := b.objects(t, "s3://states/net") + ", " + b.objects(t, "s3://states/app"); got != "a b c, a b d" {
			t.Errorf("the states have %s", got)
		}
	}
}

// TestOtherDefaultBranch holds that pull requests into a branch that is not the default branch any more, and that the settings there
// do not name, are left alone from then on, and that those into the new one are planned.
func TestOtherDefaultBranch(t *testing.T) {
	t.Parallel()
	s := newStage(t, githubtest.Files{"main.tf": resource("a", "1")})
	s.repo.Push("alice", "trunk", "Trunk", nil)
	n := s.pull("alice", "b", githubtest.Files{"b.tf": resource("b", "1")})
	s.repo.Push("bob", "c", "C", githubtest.Files{"c.tf": resource("c", "1")})
	m := s.repo.OpenPull("bob", "C", "c")
	s.repo.Retarget("bob", m, "trunk")
	s.settle()
	s.expect("into the other", s.status(m), "Nothing is planned", "The pull request goes into `trunk`")
	githubtest.SetDefault(s.repo, "trunk")
	s.settle()
	s.roundsWithin(time.Hour)
	s.expect("into the former default branch", s.status(n), "Nothing is planned", "The pull request goes into `main`")
	s.expect("its apply", s.say("alice", n, "lockstep apply"), "**Not applied**", "The pull request goes into `main`")
	s.expect("into the new one", s.say("bob", m, "lockstep apply"), "**Applied** `.`")
}
