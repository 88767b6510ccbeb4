package dispatch_test

import (
	"context"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/lockstep-iac/lockstep/functions/pipeline"
	"github.com/lockstep-iac/lockstep/functions/pipeline/jobs"
	"github.com/lockstep-iac/lockstep/functions/pipeline/localstore"
	"github.com/lockstep-iac/lockstep/github/githubtest"
)

// slow is an engine whose first plan takes until nobody wants it any more.
type slow struct {
	jobs.Engine
	started chan struct{}
	once    sync.Once
	ended   error
}

func (e *slow) Plan(ctx context.Context, j jobs.Job) (jobs.PlanResult, error) {
	first := false
	e.once.Do(func() { first = true })
	if !first {
		return e.Engine.Plan(ctx, j)
	}
	close(e.started)
	<-ctx.Done()
	e.ended = context.Cause(ctx)
	return jobs.PlanResult{}, ctx.Err()
}

// TestPushWhilePlanning holds that a push stops the plan of the head before it, and
// that only the new one is spoken of.
func TestPushWhilePlanning(t *testing.T) {
	t.Parallel()
	s := newStage(t, githubtest.Files{"main.tf": resource("a", "1")})
	engine := &slow{Engine: s.pipeline.Engine, started: make(chan struct{})}
	s.pipeline.Engine, s.pipeline.Poll = engine, time.Millisecond
	s.repo.Push("alice", "b", "B", githubtest.Files{"b.tf": resource("b", "1")})
	n := s.repo.OpenPull("alice", "B", "b")
	old := s.repo.Head("b")
	if _, err := s.hub.Deliver(t.Context()); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	var working sync.WaitGroup
	working.Go(func() {
		s.data.Queue.Work(ctx, localstore.Worker{Handle: s.pipeline.Handle, Abandon: s.pipeline.Abandon, Limit: 2})
	})
	<-engine.started
	s.repo.ForcePush("alice", "b", "Better", githubtest.Files{"b.tf": resource("b", "2")})
	if _, err := s.hub.Deliver(t.Context()); err != nil {
		t.Fatal(err)
	}
	for len(s.check("b")) == 0 || !strings.Contains(s.check("b"), "success") {
		if t.Context().Err() != nil {
			t.Fatal("it does not come to an end")
		}
		time.Sleep(time.Millisecond)
	}
	stop()
	working.Wait()
	s.settle()
	if engine.ended == nil || !strings.Contains(engine.ended.Error(), "a newer plan is wanted") {
		t.Errorf("the first plan ended with: %v", engine.ended)
	}
	s.expect("the status", s.status(n), "ready to apply – 2 to add, 0 to change, 0 to destroy (`"+s.repo.Head("b")[:7]+"`)")
	if got := s.repo.Checks(old); len(got) != 2 || got[0].Conclusion != "cancelled" || got[1].Conclusion != "cancelled" {
		t.Errorf("the old head's checks: %+v", got)
	}
	if got := artifacts(t, s); len(got) != 4 {
		t.Errorf("artifacts: %q", got)
	}
}

// TestPushBeforePlanning holds that a plan that waits is given up for a newer one, and
// that who asked for it hears so.
func TestPushBeforePlanning(t *testing.T) {
	t.Parallel()
	s := newStage(t, twoProjects)
	s.repo.Push("alice", "b", "B", githubtest.Files{"app/b.tf": resource("b", "1"), "db/b.tf": resource("b", "1")})
	n := s.repo.OpenPull("alice", "B", "b")
	old := s.repo.Head("b")
	id := s.repo.Comment("alice", n, "lockstep plan")
	events := func(ctx context.Context, m pipeline.Message) error {
		if m.Kind == pipeline.ToPlan && m.Attempt < 3 {
			return nil // lost, or very late
		}
		return s.pipeline.Handle(ctx, m)
	}
	deliver := func() {
		if _, err := s.hub.Deliver(t.Context()); err != nil {
			t.Fatal(err)
		}
		s.drain(t.Context(), events)
	}
	deliver()
	s.expect("the check", s.check("b"), "queued 2 projects planning")
	s.expect("the answer", s.answerTo(n, id), "`app` is being planned. The result will appear here.", "`db` is being planned")
	// The new head does not touch db.
	s.repo.ForcePush("alice", "b", "Less", githubtest.Files{"app/b.tf": resource("b", "2"), "db/b.tf": githubtest.Deleted})
	deliver()
	s.expect("the answer", s.answerTo(n, id), "**Superseded**: a newer plan of `app` takes the place of this one.", "**Superseded**: a newer plan of")
	s.expect("the status", s.status(n), "| `app` | 2 to add, 0 to change, 0 to destroy |")
	if strings.Contains(s.status(n), "`db`") {
		t.Errorf("the status speaks of what the head does not touch:\n%s", s.status(n))
	}
	for _, c := range s.repo.Checks(old) {
		if c.Conclusion != "cancelled" {
			t.Errorf("the old head's check: %+v", c)
		}
	}
	if got := len(s.repo.Checks(old)); got != 3 {
		t.Errorf("%d checks", got)
	}
	s.expect("an apply of what is left", s.say("alice", n, "lockstep apply -p db"), "This pull request has no plan that `lockstep apply -p db` matches.", "Projects with a plan: `app`.")
	// And the messages for the old plans, at last.
	before := s.status(n)
	for _, project := range []string{"app", "db"} {
		m := pipeline.Message{ID: "late-" + project, Kind: pipeline.ToPlan, Pull: s.ref(n), Target: project + "@default", Attempt: 2, Actor: "alice"}
		if err := s.pipeline.Handle(t.Context(), m); err != nil {
			t.Error(err)
		}
	}
	s.settle()
	if got := s.status(n); got != before {
		t.Errorf("an old message changed the status to\n%s", got)
	}
}

// TestConflictFoundByItself holds that no plan waits for an apply once its pull request conflicts with the base branch, where that is
// found after the merge of another one, by a push, or by a command; and that a merge with the base branch plans again.
func TestConflictFoundByItself(t *testing.T) {
	t.Parallel()
	for _, by := range []string{"the merge of another one", "a command"} {
		s := newStage(t, githubtest.Files{"net/main.tf": resource("a", "1"), "app/main.tf": resource("a", "1"), "lockstep.hcl": unordered})
		n := s.pull("alice", "b", githubtest.Files{"net/main.tf": resource("a", "2"), "app/b.tf": resource("b", "1")})
		if by == "a command" {
			s.repo.Push("bob", "main", "Otherwise", githubtest.Files{"net/main.tf": resource("a", "3")})
			s.expect(by, s.say("alice", n, "lockstep plan -p net"), "**Not planned**", "conflicts with the base branch")
		} else {
			m := s.pull("bob", "c", githubtest.Files{"net/main.tf": resource("a", "3")})
			s.expect(by, s.say("bob", m, "lockstep apply"), "**Applied** `net`")
			s.repo.Merge("bob", m)
			s.settle()
		}
		got := s.status(n)
		s.expect(by, got, "the branch conflicts with the base branch", "Merge the base branch into this branch, or rebase it", "**out of date**")
		if strings.Contains(got, "lockstep apply") || strings.Contains(got, "lockstep plan") {
			t.Errorf("%s: a command is shown that is refused:\n%s", by, got)
		}
		s.expect(by, s.check("b"), "lockstep: failure Failed: the branch conflicts with the base branch", "lockstep/net: action_required Out of date", "lockstep/app: action_required Out of date")
		s.repo.Push("alice", "b", "As there", githubtest.Files{"net/main.tf": resource("a", "1")})
		s.settle()
		s.expect(by+": a new head", s.status(n), "ready to apply")
	}
}

// TestConflict holds that what cannot be merged is not planned, and says what to do.
func TestConflict(t *testing.T) {
	t.Parallel()
	s := newStage(t, githubtest.Files{"main.tf": resource("a", "1")})
	n := s.pull("alice", "b", githubtest.Files{"main.tf": resource("a", "2")})
	s.repo.Push("bob", "main", "Otherwise", githubtest.Files{"main.tf": resource("a", "3")})
	s.expect("an apply", s.say("alice", n, "lockstep apply"), "**Not applied** `.`", "conflicts with the base branch, which has changed", "Merge the base branch into this branch")
	s.expect("a plan", s.say("alice", n, "lockstep plan"), "**Not planned**", "conflicts with the base branch")
	s.repo.Push("alice", "b", "More", githubtest.Files{"other.tf": resource("c", "1")})
	s.settle()
	s.expect("the status", s.status(n), "the branch conflicts with the base branch", "rebase it")
}
