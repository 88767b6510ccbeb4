package dispatch_test

import (
	"testing"

	"github.com/lockstep-iac/lockstep/github/githubtest"
)

// newcomer are the changes of a pull request with a project web, whose state is where net has its own. more are further files.
func newcomer(more githubtest.Files) githubtest.Files {
	return githubtest.Files{
		"web/main.tf": resource("w", "1"), "web/backend.tf": stateAt("net"), "lockstep.hcl": appAlone + "project \"web\" {\n  dir = \"web\"\n}\n" + anyState,
	}.With(more)
}

// TestNewProjectAtALeftAddress holds that nobody destroys the objects of a removed project with the plan of another project, which comes
// to the address of its state before they are destroyed: whose they are is told, and by which pull request they are.
func TestNewProjectAtALeftAddress(t *testing.T) {
	t.Parallel()
	const left = "The state at `s3://states/net` still has objects of the removed project `net`, left there by #2. The plan of"
	t.Run("planned", func(t *testing.T) {
		t.Parallel()
		s, b := orphaning(t, anyState)
		gone := s.pull("alice", "remove", netGone(anyState))
		s.merge("alice", gone)
		n := s.pull("bob", "web", newcomer(nil))
		s.expect("the status", s.status(n), left, "on #2, read the plan, then comment `lockstep apply -p net` there", "2 to destroy")
		s.headIs("the check", "web", "failure 1 project failed to plan")
		s.expect("its apply", s.say("bob", n, "lockstep apply"), "**Not applied** `web`")
		if got := b.objects(t, here); got != "a z" {
			t.Errorf("the state has %q", got)
		}
		s.say("alice", gone, "lockstep retry")
		s.expect("the removal", s.say("alice", gone, "lockstep apply -p net"), "2 destroyed")
		s.expect("the status then", s.status(n), "1 to add, 0 to change, 0 to destroy", "ready to apply")
		s.expect("its apply then", s.say("bob", n, "lockstep apply"), "**Applied** `web`: 1 added")
	})
	t.Run("merged", func(t *testing.T) {
		t.Parallel()
		s, b := orphaning(t, anyState)
		gone := s.pull("alice", "remove", netGone(anyState))
		s.merge("alice", gone)
		s.repo.Push("bob", "web", "Web", newcomer(nil))
		n := s.repo.OpenPull("bob", "Web", "web")
		s.merge("bob", n)
		s.expect("the plan", s.say("bob", n, "lockstep retry"), "**Failed to plan** `web`.")
		s.expect("the status", s.status(n), left)
		s.expect("an apply", s.say("bob", n, "lockstep apply"), "**Not applied** `web`")
		if got := b.objects(t, here); got != "a z" {
			t.Errorf("the state has %q", got)
		}
	})
	t.Run("removed by a push", func(t *testing.T) {
		t.Parallel()
		s, b := orphaning(t, anyState)
		s.repo.Push("alice", "main", "Remove", netGone(anyState))
		s.settle()
		n := s.pull("bob", "web", newcomer(nil))
		told := "which the base branch no longer has"
		s.expect("the status", s.status(n), told)
		s.merge("bob", n)
		s.expect("the plan", s.say("bob", n, "lockstep retry"), "**Failed to plan** `web`.")
		s.expect("the status after the merge", s.status(n), told)
		if got := b.objects(t, here); got != "a z" {
			t.Errorf("the state has %q", got)
		}
		delete(b, here)
		s.expect("a plan without the state", s.say("bob", n, "lockstep plan -p web"), "**Planned** `web`: 1 to add")
		s.expect("its apply", s.say("bob", n, "lockstep apply"), "**Applied** `web`: 1 added")
		more := s.pull("bob", "more", githubtest.Files{"web/main.tf": resource("v", "1")})
		s.expect("another change", s.say("bob", more, "lockstep apply"), "**Applied** `web`: 1 added, 0 changed, 1 destroyed")
	})
	t.Run("moved", func(t *testing.T) {
		t.Parallel()
		s, b, _, mover := moving(t)
		b.copied(t, here, there)
		s.merge("alice", mover)
		p := s.pull("bob", "p", githubtest.Files{"net/p.tf": resource("p", "1")})
		s.say("bob", p, "lockstep apply")
		n := s.pull("alice", "other", githubtest.Files{
			"web/main.tf": resource("w", "1"), "web/backend.tf": stateAt("net"), "lockstep.hcl": named("net", "") + "project \"web\" {\n  dir = \"web\"\n}\n" + anyState,
		})
		s.expect("the status", s.status(n), "The state at `s3://states/net` still has objects")
		s.say("alice", n, "lockstep apply -p web")
		if got := b.objects(t, here); got != "a z" {
			t.Errorf("the state has %q", got)
		}
	})
	t.Run("with the same objects", func(t *testing.T) {
		t.Parallel()
		s, b := orphaning(t, anyState)
		gone := s.pull("alice", "remove", netGone(anyState))
		s.merge("alice", gone)
		n := s.pull("bob", "web", newcomer(githubtest.Files{"web/a.tf": resource("a", "2"), "web/z.tf": resource("z", "1")}))
		s.expect("the status", s.status(n), "**This takes over the objects of the project** `net`", "1 to add, 1 to change, 0 to destroy")
		s.expect("its apply", s.say("bob", n, "lockstep apply"), "**Applied** `web`: 1 added, 1 changed")
		s.repo.Close("bob", n)
		s.settle()
		s.expect("the removal", s.say("alice", gone, "lockstep plan -p net"), "**Failed to plan**", "belongs to the project `web`")
		s.expect("its apply", s.say("alice", gone, "lockstep apply -p net"), "**Not applied** `net`")
		if got := b.objects(t, here); got != "a w z" {
			t.Errorf("the state has %q", got)
		}
	})
}

// TestRemovalOfATakenAddress holds that a removed project destroys nothing of another one that has its former address by now.
func TestRemovalOfATakenAddress(t *testing.T) {
	t.Parallel()
	for _, planned := range []bool{true, false} {
		s, b := orphaning(t, anyState)
		s.repo.Push("alice", "remove", "Remove", netGone(anyState))
		gone := s.repo.OpenPull("alice", "Remove", "remove")
		if planned {
			s.settle()
		}
		s.merge("alice", gone)
		delete(b, here)
		n := s.pull("bob", "web", newcomer(nil))
		s.expect("the newcomer", s.say("bob", n, "lockstep apply"), "**Applied** `web`: 1 added")
		s.repo.Close("bob", n)
		s.settle()
		for _, command := range []string{"apply -p net", "retry", "apply -p net", "plan -p net", "apply -p net"} {
			s.say("alice", gone, "lockstep "+command)
		}
		s.expect("the status", s.status(gone), "The state at `s3://states/net` belongs to the project `web`")
		if got := b.objects(t, here); got != "w" {
			t.Errorf("the state has %q", got)
		}
	}
}

// TestRemovalOfACopiedState holds that a pull request which gives a project another name and another address at once destroys nothing of
// the state that it has left, where people have copied that: the objects are the same.
func TestRemovalOfACopiedState(t *testing.T) {
	t.Parallel()
	renamed := netGone("").With(githubtest.Files{
		"lockstep.hcl": appAlone + "project \"web\" {\n  dir = \"web\"\n}\n" + anyState, "web/main.tf": resource("a", "1"), "web/z.tf": resource("z", "1"), "web/backend.tf": stateAt("net2"),
	})
	for _, merged := range []bool{false, true} {
		s, b := orphaning(t, anyState)
		b.copied(t, here, there)
		n := s.pull("alice", "rename", renamed)
		const same = "`net` and `web` have copies of the same state"
		s.expect("the status", s.status(n), same)
		if merged {
			s.merge("alice", n)
			s.expect("the issue", s.repo.Issues()[0].Body, same)
			s.say("alice", n, "lockstep retry")
			s.expect("the status after the merge", s.status(n), same)
		}
		s.expect("the apply", s.say("alice", n, "lockstep apply -p net"), "**Not applied** `net`")
		if got := b.objects(t, here); got != "a z" {
			t.Errorf("the state has %q", got)
		}
		delete(b, here)
		s.expect("a plan without the former state", s.say("alice", n, "lockstep plan -p net"), "**Planned** `net`: no changes")
	}
}

// TestRemovalAfterACopy holds that a removal destroys nothing of the objects that a project of the base branch has by then, with a copy of the
// state that another pull request has brought.
func TestRemovalAfterACopy(t *testing.T) {
	t.Parallel()
	const web = "project \"web\" {\n  dir = \"web\"\n}\n"
	copied := func(b buckets) githubtest.Files {
		b.copied(t, here, there)
		return githubtest.Files{"web/main.tf": resource("a", "1"), "web/z.tf": resource("z", "1"), "web/backend.tf": stateAt("net2"), "lockstep.hcl": netWithApp + web + anyState}
	}
	for name, more := range map[string]githubtest.Files{
		"no changes": {}, "applied": {"web/m.tf": resource("m", "1")}, "planned once more": {}, "merged at once": {},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, b := orphaning(t, anyState)
			s.repo.Push("bob", "web", "Web", copied(b).With(more))
			n := s.repo.OpenPull("bob", "Web", "web")
			if name != "merged at once" {
				s.settle()
				s.say("bob", n, "lockstep apply -p web")
			}
			s.merge("bob", n)
			if name == "planned once more" {
				other := s.pull("bob", "more", githubtest.Files{"web/m.tf": resource("m", "1")})
				s.expect("another change of it", s.status(other), "1 to add")
			}
			gone := s.pull("alice", "remove", netGone(web+anyState))
			s.expect("the removal", s.status(gone), "`net` and `web` have copies of the same state")
			s.expect("its apply", s.say("alice", gone, "lockstep apply -p net"), "**Not applied** `net`")
			if got := b.objects(t, here); got != "a z" {
				t.Errorf("the state has %q", got)
			}
		})
	}
}
