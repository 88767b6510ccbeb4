package dispatch_test

import (
	"context"
	"testing"

	"github.com/lockstep-iac/lockstep/functions/pipeline"
	"github.com/lockstep-iac/lockstep/github"
	"github.com/lockstep-iac/lockstep/github/githubtest"
)

// foundPushed handles a push as the janitor finds one whose webhook is lost.
func (s *stage) foundPushed() {
	s.t.Helper()
	if _, err := s.hub.Deliver(s.t.Context()); err != nil {
		s.t.Fatal(err)
	}
	s.drain(s.t.Context(), func(ctx context.Context, m pipeline.Message) error {
		m.Push = nil
		return s.pipeline.Handle(ctx, m)
	})
}

// TestPushedByTheApprover holds that the one who pushes a commit cannot approve it, in whosever name the commit is.
func TestPushedByTheApprover(t *testing.T) {
	t.Parallel()
	const held = "**not met**: an approval of the planned commit"
	change := func(input string) githubtest.Files { return githubtest.Files{"net/b.tf": resource("b", input)} }
	for name, test := range map[string]struct {
		opener string
		push   func(s *stage, n int)
		fails  []string
	}{
		"in the name of the author": {"alice", func(s *stage, n int) { s.repo.PushAs("bob", "alice", "", "b", "More", change("2")) },
			[]string{held, "`bob` is an author of the change"}},
		"in the name of nobody": {"alice", func(s *stage, n int) { s.repo.PushAs("bob", "nobody@invalid", "", "b", "More", change("2")) },
			[]string{"an approval of the planned commit", "belongs to no GitHub account", "--reset-author"}},
		"committed by nobody": {"alice", func(s *stage, n int) { s.repo.PushAs("bob", "alice", "nobody@invalid", "b", "More", change("2")) },
			[]string{"an approval of the planned commit", "belongs to no GitHub account"}},
		"in an App's name": {"renovate[bot]", func(s *stage, n int) { s.repo.PushAs("bob", "renovate[bot]", "", "b", "More", change("2")) },
			[]string{held, "`bob` is an author of the change"}},
		"and pushed over by the author": {"alice", func(s *stage, n int) {
			s.repo.PushAs("bob", "alice", "", "b", "More", change("2"))
			s.repo.ForcePush("alice", "b", "Again", change("3"))
		}, []string{held, "`bob` is an author of the change"}},
		"without a webhook": {"alice", func(s *stage, n int) {
			s.repo.PushAs("bob", "alice", "", "b", "More", change("2"))
			s.foundPushed()
		}, []string{held, "`bob` is an author of the change"}},
		"and GitHub does not tell": {"alice", func(s *stage, n int) {
			s.repo.PushAs("bob", "alice", "", "b", "More", change("2"))
			s.repo.ForgetPushes()
			s.foundPushed()
		}, []string{"GitHub does not say who pushed commit", "git push --force-with-lease"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStage(t, requiring("apply", "  approvals = 1"))
			s.repo.Grant("carol", "write")
			n := s.pull(test.opener, "b", change("1"))
			test.push(s, n)
			s.settle()
			s.repo.Review("bob", n, github.Approved, "")
			s.settle()
			s.expect("the apply", s.say("bob", n, "lockstep apply"), append(test.fails, "**Not applied** `net`")...)
			s.repo.ForcePush("alice", "b", "Anew", change("4"))
			s.settle()
			s.repo.Review("carol", n, github.Approved, "")
			s.settle()
			s.expect("the apply of a fresh push that somebody else approves", s.say("alice", n, "lockstep apply"), "**Applied** `net`")
		})
	}
}

// TestApprovedBy holds that the line about who has approved names only those whose approvals count.
func TestApprovedBy(t *testing.T) {
	t.Parallel()
	s := newStage(t, githubtest.Files{"net/main.tf": resource("a", "1")})
	s.repo.Grant("carol", "write")
	n := s.pull("alice", "b", githubtest.Files{"net/b.tf": resource("b", "1")})
	s.repo.PushAs("bob", "alice", "", "b", "More", githubtest.Files{"net/b.tf": resource("b", "2")})
	for _, who := range []string{"alice", "bob", "mallory", "helper[bot]"} {
		s.repo.Review(who, n, github.Approved, "")
	}
	s.settle()
	s.without("the status without one that counts", s.status(n), "Approved at")
	s.repo.Review("carol", n, github.Approved, "")
	s.settle()
	s.expect("the status", s.status(n), "Approved at `"+s.repo.Head("b")[:7]+"` by `carol`.")
}

// TestPushedBeforeTheOpening is a branch that one person has pushed, and another one opens a pull request of.
func TestPushedBeforeTheOpening(t *testing.T) {
	t.Parallel()
	s := newStage(t, requiring("apply", "  approvals = 1"))
	s.repo.PushAs("bob", "renovate[bot]", "", "b", "Update", githubtest.Files{"net/b.tf": resource("b", "1")})
	n := s.repo.OpenPull("renovate[bot]", "Update", "b")
	s.settle()
	s.repo.Review("bob", n, github.Approved, "")
	s.settle()
	s.expect("the apply", s.say("bob", n, "lockstep apply"), "**Not applied** `net`", "`bob` is an author of the change")
}
