package dispatch_test

import (
	"context"
	"regexp"
	"strings"
	"testing"

	"github.com/lockstep-iac/lockstep/functions/pipeline"
	"github.com/lockstep-iac/lockstep/functions/pipeline/reconcile"
	"github.com/lockstep-iac/lockstep/github/githubtest"
)

// hash returns the hash of the plan that the status comment of a pull request shows, in
// short, "" if it shows none.
func (s *stage) hash(number int) string {
	m := regexp.MustCompile("Plan `([0-9a-f]{12})`\n").FindStringSubmatch(s.status(number))
	if m == nil {
		return ""
	}
	return m[1]
}

// unseen pushes another plan, and has a comment that was written before it was shown come
// to us when it is there.
func (s *stage) unseen(number int, branch, text string) (answer string) {
	s.t.Helper()
	s.repo.Push("alice", branch, "Other", githubtest.Files{"b.tf": resource("other", "2")})
	if _, err := s.hub.Deliver(s.t.Context()); err != nil {
		s.t.Fatal(err)
	}
	id := s.repo.Comment("bob", number, text)
	s.hub.LoseDeliveries(1)
	if _, err := s.hub.Deliver(s.t.Context()); err != nil {
		s.t.Fatal(err)
	}
	s.settle()
	s.expect("the other plan", s.status(number), "terraform_data.other")
	s.round(reconcile.Found{Deliveries: 1})
	return s.answerTo(number, id)
}

// TestUnseenPlan carries out an attack: somebody who may push waits until an apply is about
// to be asked for, and pushes another plan; the comment, written by somebody who looks at
// the old one, is handled when the new one is there. It holds that this is not applied.
func TestUnseenPlan(t *testing.T) {
	t.Parallel()
	s := newStage(t, githubtest.Files{"main.tf": resource("a", "1")})
	n := s.pull("alice", "b", githubtest.Files{"b.tf": resource("b", "1")})
	s.expect("the late apply", s.unseen(n, "b", "lockstep apply"), "**Not applied** `.`", "This plan was posted after your comment, so you have not seen it.",
		"comment `lockstep apply` again, or `lockstep apply "+s.hash(n)+" -p .` for exactly this plan")
	s.expect("the check", s.check("b"), "success Ready to apply – 2 to add")
	s.expect("a new one", s.say("bob", n, "lockstep apply"), "**Applied** `.`: 2 added")
}

// TestNamedPlan holds the same of a comment that names the old plan; and that one which
// names a plan applies it, and no other.
func TestNamedPlan(t *testing.T) {
	t.Parallel()
	s := newStage(t, githubtest.Files{"main.tf": resource("a", "1")})
	n := s.pull("alice", "b", githubtest.Files{"b.tf": resource("b", "1")})
	old := s.hash(n)
	s.expect("the late apply", s.unseen(n, "b", "lockstep apply "+old), "**Not applied** `.`", "`"+old+"` is not the current plan of `.` (Plan `"+s.hash(n)+"`)",
		"comment `lockstep apply "+s.hash(n)+" -p .`")
	now := s.hash(n)
	if old == "" || now == "" || old == now {
		t.Fatalf("the plans are %q and %q", old, now)
	}
	s.expect("the old one again", s.say("bob", n, "lockstep apply "+old), "**Not applied** `.`")
	s.expect("too little of it", s.say("bob", n, "lockstep apply "+now[:6]), "is too short for the hash of a plan: write at least 7 characters")
	s.expect("a bit of it", s.say("bob", n, "lockstep apply "+strings.ToUpper(now[:7])), "**Applied** `.`: 2 added")
}

// TestHiddenPlan holds that a plan which our comment does not show, as it could not be
// written, is applied by its name only, which is in the check.
func TestHiddenPlan(t *testing.T) {
	t.Parallel()
	s := newStage(t, githubtest.Files{"main.tf": resource("a", "1")})
	s.repo.Push("alice", "b", "Change", githubtest.Files{"b.tf": resource("b", "1")})
	n := s.repo.OpenPull("alice", "Change", "b")
	silent := func() {
		if _, err := s.hub.Deliver(t.Context()); err != nil {
			t.Fatal(err)
		}
		s.drain(t.Context(), func(ctx context.Context, m pipeline.Message) error {
			if m.Kind == pipeline.SyncComments {
				return nil
			}
			return s.pipeline.Handle(ctx, m)
		})
	}
	silent()
	if got := s.hash(n); got != "" {
		t.Fatalf("the plan is shown: %s", got)
	}
	id := s.repo.Comment("bob", n, "lockstep apply")
	silent()
	s.expect("an apply", s.answerTo(n, id), "**Not applied** `.`", "The plan was not posted yet when you wrote this comment, so you have not seen it.")
	hash := regexp.MustCompile("(?m)^Plan `([0-9a-f]{64})`$").FindStringSubmatch(s.pages("b"))
	if hash == nil {
		t.Fatalf("the check does not name the plan:\n%s", s.pages("b"))
	}
	s.expect("by its name", s.say("bob", n, "lockstep apply "+hash[1]), "**Applied** `.`: 2 added")
}

// TestButtonsPlan holds that the button of a check run, which names no plan and says
// nothing of when it was seen, makes a plan, and applies nothing.
func TestButtonsPlan(t *testing.T) {
	t.Parallel()
	s := newStage(t, githubtest.Files{"main.tf": resource("a", "1")})
	n := s.pull("alice", "b", githubtest.Files{"b.tf": resource("b", "1")})
	old := s.hash(n)
	s.repo.Rerequest("alice", s.repo.Checks(s.repo.Head("b"))[0].ID)
	s.settle()
	if now := s.hash(n); now == "" || now == old {
		t.Errorf("the plan is %q, as before", now)
	}
	s.expect("the status", s.status(n), "2 to add", "ready to apply")
	if all := strings.Join(s.hub.Lines(), "\n"); strings.Contains(all, "Applied") || strings.Contains(all, "applied by") {
		t.Errorf("it was applied:\n%s", all)
	}
}
