package dispatch_test

import (
	"context"
	"testing"

	"github.com/lockstep-iac/lockstep/functions/pipeline"
	"github.com/lockstep-iac/lockstep/functions/pipeline/jobs"
	"github.com/lockstep-iac/lockstep/functions/pipeline/runs"
	"github.com/lockstep-iac/lockstep/github/githubtest"
)

// pushed pushes to a branch, and has the event handled before anything else is.
func (s *stage) pushed(n int, branch string, changes githubtest.Files) {
	s.t.Helper()
	s.repo.Push("alice", branch, "More", changes)
	s.hub.LoseDeliveries(20) // GitHub's own is here already
	if _, err := s.hub.Deliver(s.t.Context()); err != nil {
		s.t.Error(err)
	}
	s.hub.LoseDeliveries(0)
	m := pipeline.Message{ID: "at-once", Kind: pipeline.Pushed, Pull: s.ref(n), Action: "synchronize"}
	if err := s.pipeline.Handle(s.t.Context(), m); err != nil {
		s.t.Error(err)
	}
}

// TestPushWhileApplying holds that a head which comes during an apply, and cannot be
// planned then, is planned when the apply is done.
func TestPushWhileApplying(t *testing.T) {
	t.Parallel()
	s := newStage(t, githubtest.Files{"main.tf": resource("a", "1")})
	n := s.pull("alice", "b", githubtest.Files{"b.tf": resource("b", "1")})
	engine := s.pipeline.Engine
	s.pipeline.Engine = closing{engine, func() { s.pushed(n, "b", githubtest.Files{"c.tf": resource("c", "1")}) }}
	s.expect("the apply", s.say("alice", n, "lockstep apply"), "**Applied** `.`: 2 added")
	s.expect("the new head's check", s.check("b"), "success Ready to apply – 1 to add")
	s.expect("the status", s.status(n), "ready to apply – 1 to add, 0 to change, 0 to destroy (`"+s.repo.Head("b")[:7]+"`)")
}

// TestPushBeforeApplying holds the same of an apply that waits, and is refused because
// of that head.
func TestPushBeforeApplying(t *testing.T) {
	t.Parallel()
	s := newStage(t, githubtest.Files{"main.tf": resource("a", "1")})
	n := s.pull("alice", "b", githubtest.Files{"b.tf": resource("b", "1")})
	id := s.repo.Comment("alice", n, "lockstep apply")
	if _, err := s.hub.Deliver(t.Context()); err != nil {
		t.Fatal(err)
	}
	s.drain(t.Context(), func(ctx context.Context, m pipeline.Message) error {
		if m.Kind == pipeline.ToApply {
			s.pushed(n, "b", githubtest.Files{"c.tf": resource("c", "1")})
		}
		return s.pipeline.Handle(ctx, m)
	})
	s.settle()
	s.expect("the apply", s.answerTo(n, id), "**Not applied** `.`", ", but the pull request is at")
	s.expect("the new head's check", s.check("b"), "success Ready to apply – 3 to add")
	s.expect("its apply", s.say("alice", n, "lockstep apply"), "**Applied** `.`: 3 added")
}

// late is an engine during whose refusals something happens.
type late struct {
	jobs.Engine
	meanwhile func()
}

func (l late) Apply(ctx context.Context, j jobs.Job, plan []byte, permit func(jobs.BeforeApply) jobs.Permit) (jobs.Outcome, error) {
	l.meanwhile()
	return l.Engine.Apply(ctx, j, plan, func(jobs.BeforeApply) jobs.Permit {
		return permit(jobs.BeforeApply{State: runs.StateID{Lineage: "other"}})
	})
}

// TestRefusedMeanwhile holds that a push, or the close, that comes after the last look
// at the pull request of an apply which is refused then, is not forgotten.
func TestRefusedMeanwhile(t *testing.T) {
	t.Parallel()
	t.Run("push", func(t *testing.T) {
		t.Parallel()
		s := newStage(t, githubtest.Files{"main.tf": resource("a", "1")})
		n := s.pull("alice", "b", githubtest.Files{"b.tf": resource("b", "1")})
		s.pipeline.Engine = late{s.pipeline.Engine, func() { s.pushed(n, "b", githubtest.Files{"c.tf": resource("c", "1")}) }}
		s.expect("the apply", s.say("alice", n, "lockstep apply"), "**Not applied** `.`", "the state was created")
		s.expect("the new head's check", s.check("b"), "success Ready to apply – 3 to add")
	})
	t.Run("close", func(t *testing.T) {
		t.Parallel()
		s := newStage(t, githubtest.Files{"main.tf": resource("a", "1")})
		n := s.pull("alice", "b", githubtest.Files{"b.tf": resource("b", "1")})
		s.pipeline.Engine = late{s.pipeline.Engine, func() {
			s.repo.Close("alice", n)
			m := pipeline.Message{ID: "at-once", Kind: pipeline.Closed, Pull: s.ref(n), Action: "closed", Actor: "alice"}
			if err := s.pipeline.Handle(t.Context(), m); err != nil {
				t.Error(err)
			}
			s.hub.LoseDeliveries(20)
			s.hub.Deliver(t.Context())
			s.hub.LoseDeliveries(0)
		}}
		s.expect("the apply", s.say("alice", n, "lockstep apply"), "**Not applied** `.`")
		s.expect("the check", s.check("b"), "cancelled Closed")
		if got := usable(artifacts(t, s)); len(got) != 0 {
			t.Errorf("something is kept: %q", got)
		}
	})
}

// TestMergedWhileApplying holds that the rest of a pull request that is pushed to and merged during an apply is planned when
// that is done.
func TestMergedWhileApplying(t *testing.T) {
	t.Parallel()
	s := newStage(t, githubtest.Files{"main.tf": resource("a", "1")})
	n := s.pull("alice", "b", githubtest.Files{"b.tf": resource("b", "1")})
	engine := s.pipeline.Engine
	s.pipeline.Engine = closing{engine, func() {
		s.pipeline.Engine = engine
		s.pushed(n, "b", githubtest.Files{"c.tf": resource("c", "1")})
		s.repo.Merge("bob", n)
		s.hub.LoseDeliveries(20) // the webhook is here already
		for _, kind := range []pipeline.Kind{pipeline.Closed, pipeline.Landed} {
			if err := s.pipeline.Handle(t.Context(), pipeline.Message{ID: "at-once-" + string(kind), Kind: kind, Pull: s.ref(n), Action: "closed", Merged: true, Actor: "bob"}); err != nil {
				t.Error(err)
			}
		}
	}}
	id := s.repo.Comment("alice", n, "lockstep apply")
	s.hub.Deliver(t.Context())
	handled := false
	s.drain(t.Context(), func(ctx context.Context, m pipeline.Message) error {
		if m.Kind == pipeline.Landed && !handled {
			handled = true // at once
			return nil
		}
		return s.pipeline.Handle(ctx, m)
	})
	s.settle()
	s.hub.LoseDeliveries(0)
	s.expect("the apply", s.answerTo(n, id), "**Applied** `.`: 2 added")
	s.expect("its rest", s.answer(n, "merge"), "**Planned** `.`: 1 to add")
	s.expect("the check", s.check("b"), "neutral", "1 to add")
	s.expect("the status", s.status(n), "1 to add, 0 to change, 0 to destroy")
	s.expect("its apply", s.say("bob", n, "lockstep apply"), "**Applied** `.`: 1 added")
}

// TestPendingDuringTheApplyOfAFormerHead holds that the required check of a head waits as long as a project of it cannot be planned, since it is
// being applied at the former head, or waits for that: nobody can merge what was never planned.
func TestPendingDuringTheApplyOfAFormerHead(t *testing.T) {
	t.Parallel()
	s := newStage(t, twoProjects)
	n := s.pull("alice", "b", githubtest.Files{"db/b.tf": resource("b", "1")})
	m, _ := s.toApply("alice", n)
	s.repo.Push("alice", "b", "More", githubtest.Files{"db/c.tf": resource("c", "1"), "app/c.tf": resource("c", "1")})
	if _, err := s.hub.Deliver(t.Context()); err != nil {
		t.Fatal(err)
	}
	s.drain(t.Context(), s.pipeline.Handle)
	s.headIs("with an apply queued", "b", "queued 1 project planning, 1 ready to apply")
	s.expect("the status", s.status(n), "| queued for planning, after the apply of an earlier commit | `db` | ... |", "| `app` |")
	if err := s.pipeline.Handle(t.Context(), m); err != nil {
		t.Fatal(err)
	}
	var pushed pipeline.Message
	s.drain(t.Context(), func(ctx context.Context, m pipeline.Message) error {
		if m.Kind == pipeline.Pushed {
			pushed = m
			return nil
		}
		return s.pipeline.Handle(ctx, m)
	})
	s.headIs("before the push is handled once more", "b", "queued Looking for the projects")
	if err := s.pipeline.Handle(t.Context(), pushed); err != nil {
		t.Fatal(err)
	}
	s.settle()
	s.headIs("once it is planned", "b", "neutral 2 projects ready to apply – 5 to add, 0 to change, 0 to destroy")
}

// TestMergedBeforeItsTurn holds that an apply whose pull request is merged before its turn is answered once, where it was asked for, and that the
// command that it names leads on, whether the event of the merge is handled before it or after.
func TestMergedBeforeItsTurn(t *testing.T) {
	t.Parallel()
	for name, handled := range map[string]bool{"after its event": true, "before its event": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStage(t, githubtest.Files{"main.tf": resource("a", "1")})
			n := s.pull("alice", "b", githubtest.Files{"b.tf": resource("b", "1")})
			id := s.repo.Comment("alice", n, "lockstep apply")
			if _, err := s.hub.Deliver(t.Context()); err != nil {
				t.Fatal(err)
			}
			merged := false
			s.drain(t.Context(), func(ctx context.Context, m pipeline.Message) error {
				if m.Kind == pipeline.ToApply && !merged {
					merged = true
					s.repo.Merge("bob", n)
					if handled {
						s.meanwhile()
					}
				}
				return s.pipeline.Handle(ctx, m)
			})
			s.settle()
			s.expect("the apply", s.answerTo(n, id), "**Not applied** `.`", "The pull request is merged.", "Comment `lockstep retry` for a new plan of what was merged. Read it, then apply it.")
			s.expect("the status", s.status(n), "erged, not applied", "comment `lockstep retry` for a new plan. Read it, then comment `lockstep apply`")
			s.expect("the check", s.check("b"), "action_required Merged, not applied")
			s.expect("the plan", s.say("alice", n, "lockstep retry"), "**Planned** `.`: 2 to add")
			s.expect("its apply", s.say("alice", n, "lockstep apply"), "**Applied** `.`: 2 added")
		})
	}
}
