package dispatch_test

import (
	"context"
	"strings"
	"testing"

	"github.com/lockstep-iac/lockstep/functions/pipeline"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/memory"
	"github.com/lockstep-iac/lockstep/functions/pipeline/jobs"
	"github.com/lockstep-iac/lockstep/github/githubtest"
)

// closed has a pull request closed, and the event handled before anything else is.
func (s *stage) closed(n int) {
	s.t.Helper()
	s.repo.Close("alice", n)
	s.hub.LoseDeliveries(20) // GitHub's own is here already
	if _, err := s.hub.Deliver(s.t.Context()); err != nil {
		s.t.Error(err)
	}
	s.hub.LoseDeliveries(0)
	m := pipeline.Message{ID: "at-once", Kind: pipeline.Closed, Pull: s.ref(n), Action: "closed", Actor: "alice"}
	if err := s.pipeline.Handle(s.t.Context(), m); err != nil {
		s.t.Error(err)
	}
}

// interrupted is an engine during whose plans something happens.
type interrupted struct {
	jobs.Engine
	meanwhile func()
}

func (i interrupted) Plan(ctx context.Context, j jobs.Job) (jobs.PlanResult, error) {
	i.meanwhile()
	return i.Engine.Plan(ctx, j)
}

// TestClosedWhilePlanning holds that who waits for a plan is told that the pull request was closed.
func TestClosedWhilePlanning(t *testing.T) {
	t.Parallel()
	s := newStage(t, githubtest.Files{"main.tf": resource("a", "1")})
	n := s.pull("alice", "b", githubtest.Files{"b.tf": resource("b", "1")})
	s.pipeline.Engine = interrupted{s.pipeline.Engine, func() { s.closed(n) }}
	s.expect("the answer", s.say("alice", n, "lockstep plan"), "**Not planned** `.`", "The pull request is closed.")
}

// TestClosedAsItIsPlanned holds that a plan which is kept while its pull request is settled is
// settled, too.
func TestClosedAsItIsPlanned(t *testing.T) {
	t.Parallel()
	s := newStage(t, githubtest.Files{"main.tf": resource("a", "1")})
	s.repo.Push("alice", "b", "B", githubtest.Files{"b.tf": resource("b", "1")})
	n := s.repo.OpenPull("alice", "B", "b")
	if _, err := s.hub.Deliver(t.Context()); err != nil {
		t.Fatal(err)
	}
	var meanwhile func()
	s.drain(t.Context(), func(ctx context.Context, m pipeline.Message) error {
		if m.Kind != pipeline.ToPlan {
			return s.pipeline.Handle(ctx, m)
		}
		planned := s.pipeline
		other := *s.pipeline
		s.pipeline = &other
		s.before(writes("run/1001/1/%2E@default", ""), func() { // just before a run is dropped
			if happens := meanwhile; happens != nil {
				meanwhile = nil
				happens()
			}
		})
		meanwhile = func() {
			if err := planned.Handle(ctx, m); err != nil {
				t.Error(err)
			}
		}
		s.closed(n)
		s.pipeline = planned
		return nil
	})
	s.settle()
	s.expect("the check", s.check("b"), "cancelled Closed")
	for _, key := range artifacts(t, s) {
		if !strings.HasSuffix(key, "/report.md") { // which people read
			t.Errorf("%s is kept", key)
		}
	}
}

// TestQueuedAndThenConflicting holds that a plan is announced whose message was not sent, because
// its process died, although the base branch has a conflict with it by now.
func TestQueuedAndThenConflicting(t *testing.T) {
	t.Parallel()
	s := newStage(t, githubtest.Files{"main.tf": resource("a", "1")})
	s.repo.Push("alice", "b", "B", githubtest.Files{"main.tf": resource("a", "2")})
	n := s.repo.OpenPull("alice", "B", "b")
	unclog := s.refuse(sends(pipeline.ToPlan))
	if _, err := s.hub.Deliver(t.Context()); err != nil {
		t.Fatal(err)
	}
	tries := 0
	s.drain(t.Context(), func(ctx context.Context, m pipeline.Message) error {
		if tries++; tries == 2 {
			unclog()
			s.repo.Push("bob", "main", "Meanwhile", githubtest.Files{"main.tf": resource("a", "3")})
		}
		return s.pipeline.Handle(ctx, m)
	})
	s.settle()
	s.expect("the check", s.check("b"), "success Ready to apply – 1 to add")
	s.expect("the status", s.status(n), "conflicts with the base branch")
}

// TestMovedOnUnannounced has a process die between its plan and the answer about it. Before it comes again, the run moves on:
// whoever waits for the plan is told all the same.
func TestMovedOnUnannounced(t *testing.T) {
	t.Parallel()
	for name, then := range map[string]func(s *stage, n int){
		"closed":        func(s *stage, n int) { s.closed(n) },
		"planned again": func(s *stage, n int) { s.command("alice", n, "lockstep plan") },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStage(t, githubtest.Files{"main.tf": resource("a", "1")})
			n := s.pull("alice", "b", githubtest.Files{"b.tf": resource("b", "1")})
			kept := false
			s.refuse(first(func(x memory.Effect) bool { // its process dies once its plan is kept, and before that is announced
				kept = kept || writes("run/", `"Phase":"planned"`)(x)
				return kept && strings.HasPrefix(x.Call, "get ask/")
			}))
			id := s.repo.Comment("alice", n, "lockstep plan")
			if _, err := s.hub.Deliver(t.Context()); err != nil {
				t.Fatal(err)
			}
			died := false
			s.drain(t.Context(), func(ctx context.Context, m pipeline.Message) error {
				err := s.pipeline.Handle(ctx, m)
				if err != nil && !died {
					died = true
					then(s, n)
				}
				return err
			})
			s.settle()
			if !died {
				t.Error("the process did not die")
			}
			s.expect("the answer", s.answerTo(n, id), "**Planned** `.`: 2 to add")
		})
	}
}
