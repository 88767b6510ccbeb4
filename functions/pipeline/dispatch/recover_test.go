package dispatch_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/lockstep-iac/lockstep/functions/comment"
	"github.com/lockstep-iac/lockstep/functions/pipeline"
	"github.com/lockstep-iac/lockstep/functions/pipeline/jobs"
	"github.com/lockstep-iac/lockstep/github/githubtest"
)

// doubting is an engine whose recoveries find something, or fail.
type doubting struct {
	jobs.Engine
	err error
	n   int
}

func (d *doubting) Recover(_ context.Context, j jobs.Job) (comment.Recovered, error) {
	d.n++
	return comment.Recovered{Project: j.Project, Changed: true, Doubts: []comment.Doubt{
		{Address: "lab_thing.a", Action: "create", Begun: time.Date(2025, 1, 2, 15, 4, 5, 0, time.UTC), Known: []string{`name = "a"`}},
	}}, d.err
}

// TestRecover is the story of a recovery that a comment asks for: by whoever may apply, not in the
// middle of an apply, and where applies are done.
func TestRecover(t *testing.T) {
	t.Parallel()
	s := newStage(t, githubtest.Files{"net/main.tf": resource("a", "1")})
	s.expect("where nothing was planned", s.say("alice", s.pull("alice", "readme", githubtest.Files{"README.md": "hello\n"}), "lockstep recover"),
		"**Not recovered**", "This pull request has no plan yet, so Lockstep does not know which state to recover.")
	s = newStage(t, githubtest.Files{"main.tf": resource("a", "1")})
	s.strict = true
	s.lockable()
	engine := &doubting{Engine: s.pipeline.Engine}
	n := s.pull("alice", "b", githubtest.Files{"b.tf": resource("b", "1")})
	s.expect("nothing to recover", s.say("alice", n, "lockstep recover"), "`.`: **nothing to recover**. The state is complete.")
	s.pipeline.Engine = engine
	s.expect("who may not", s.say("mallory", n, "lockstep recover"), "**Not recovered** `.`", "`mallory` has the permission `read`")
	if engine.n != 0 {
		t.Error("it was recovered all the same")
	}
	s.golden("recover", s.say("bob", n, "lockstep recover -p ."))
	engine.err = &jobs.StateError{Why: "the state is locked", Remedy: "Wait."}
	s.expect("a locked state", s.say("bob", n, "lockstep recover"), "**Not recovered** `.`", "Lockstep cannot reach the state: `the state is locked`")

	m, _ := s.toApply("alice", n)
	id := s.command("bob", n, "lockstep recover")
	s.pipeline.Engine = whileApplying{engine, func() { s.command("bob", n, "lockstep recover") }}
	before := engine.n
	if err := s.pipeline.Handle(t.Context(), m); err != nil {
		t.Fatal(err)
	}
	s.settle()
	s.expect("in the middle of an apply", s.answerTo(n, id), "**Not recovered** `.`", "An apply that `alice` requested is in progress.")
	if engine.n != before {
		t.Error("it was recovered in the middle of an apply")
	}
}

// TestRecoverAbandoned holds that whoever asked for a recovery that is given up is told so.
func TestRecoverAbandoned(t *testing.T) {
	t.Parallel()
	s := newStage(t, githubtest.Files{"main.tf": resource("a", "1")})
	n := s.pull("alice", "b", githubtest.Files{"b.tf": resource("b", "1")})
	engine := &doubting{Engine: s.pipeline.Engine, err: errors.New("the machine is full")}
	s.pipeline.Engine = engine
	s.expect("the answer", s.say("bob", n, "lockstep recover"), "**Lockstep failed internally**: 3 attempts failed or were interrupted.")
	if engine.n != 3 {
		t.Errorf("it was tried %d times", engine.n)
	}
}

// TestRecoverLater holds that the gate decides again when the recovery has waited for its turn.
func TestRecoverLater(t *testing.T) {
	t.Parallel()
	s := newStage(t, githubtest.Files{"main.tf": resource("a", "1")})
	n := s.pull("alice", "b", githubtest.Files{"b.tf": resource("b", "1")})
	engine := &doubting{Engine: s.pipeline.Engine}
	s.pipeline.Engine = engine
	id := s.repo.Comment("bob", n, "lockstep recover")
	if _, err := s.hub.Deliver(t.Context()); err != nil {
		t.Fatal(err)
	}
	s.drain(t.Context(), func(ctx context.Context, m pipeline.Message) error {
		if m.Kind == pipeline.ToRecover {
			s.repo.Grant("bob", "read")
		}
		return s.pipeline.Handle(ctx, m)
	})
	s.settle()
	s.expect("the answer", s.answerTo(n, id), "**Not recovered** `.`", "`bob` has the permission `read`")
	if engine.n != 0 {
		t.Error("it was recovered")
	}
}
