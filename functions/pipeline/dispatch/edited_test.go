package dispatch_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/lockstep-iac/lockstep/functions/comment/grammar"
	"github.com/lockstep-iac/lockstep/functions/pipeline"
	"github.com/lockstep-iac/lockstep/functions/pipeline/runs"
	"github.com/lockstep-iac/lockstep/github"
	"github.com/lockstep-iac/lockstep/github/githubtest"
)

// settleKeeping lets everything happen but what messages ask for that are kept.
func (s *stage) settleKeeping(kept func(pipeline.Message) bool) {
	s.t.Helper()
	for {
		sent, err := s.hub.Deliver(s.t.Context())
		if err != nil {
			s.t.Fatal(err)
		}
		handled := s.drain(s.t.Context(), func(ctx context.Context, m pipeline.Message) error {
			if kept(m) {
				return nil
			}
			return s.pipeline.Handle(ctx, m)
		})
		if sent+handled == 0 {
			return
		}
	}
}

// TestLeakedSecret carries out an attack: somebody who knows the webhook's secret signs commands that nobody has written, or that somebody else,
// elsewhere or before has. It holds that what changes something is on GitHub as it came.
func TestLeakedSecret(t *testing.T) {
	t.Parallel()
	s := newStage(t, githubtest.Files{"main.tf": resource("a", "1")})
	n := s.pull("alice", "b", githubtest.Files{"b.tf": resource("b", "1")})
	other := s.pull("alice", "c", githubtest.Files{"c.tf": resource("c", "1")})
	idle := s.repo.Comment("alice", n, "looks good")
	theirs := s.repo.Comment("bob", n, "lockstep apply\n")
	elsewhere := s.repo.Comment("alice", other, "lockstep apply")
	edited := s.repo.Comment("alice", n, "soon")
	s.repo.EditComment("mallory", edited, "lockstep apply")
	s.settleKeeping(func(pipeline.Message) bool { return true })
	for name, test := range map[string]struct {
		text   string
		source github.Source
	}{
		"of nowhere":              {"lockstep apply", github.Source{}},
		"of no comment":           {"lockstep apply", github.Source{Comment: 4711}},
		"of no line":              {"lockstep apply", github.Source{Line: 4711}},
		"of no review":            {"lockstep apply", github.Source{Review: 4711}},
		"of another text":         {"lockstep apply", github.Source{Comment: idle}},
		"of another author":       {"lockstep apply", github.Source{Comment: theirs}},
		"of another pull request": {"lockstep apply", github.Source{Comment: elsewhere}},
		"of an edited comment":    {"lockstep apply", github.Source{Comment: edited}},
		"a lock":                  {"lockstep lock --reason x", github.Source{Line: 4711}},
		"an unlock":               {"lockstep unlock", github.Source{Line: 4711}},
		"a recovery":              {"lockstep recover", github.Source{Line: 4711}},
		"a plan with its apply":   {"lockstep plan\nlockstep apply", github.Source{Review: 4711}},
	} {
		m := pipeline.Message{ID: fmt.Sprintf("forged-%x", name), Kind: pipeline.Commanded, Pull: s.ref(n), Actor: "alice", At: s.hub.Now().Add(time.Minute), Lines: grammar.Parse(test.text), Comment: test.source.Comment, Written: test.source}
		if err := s.pipeline.Handle(t.Context(), m); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		s.settle()
		if r := s.runOf(n); r.Phase != runs.Planned || r.Asked.Attempt != 1 {
			t.Errorf("%s: the plan is %s", name, r.Phase)
		}
		if locks, err := s.records.List(t.Context(), fmt.Sprintf("lock/%d", s.repo.Repo().ID)); err != nil || len(locks) != 0 {
			t.Errorf("%s: a state is locked: %v", name, err)
		}
	}
}

// TestCommandsAsWritten holds that commands count wherever they are written, and that their time is GitHub's.
func TestCommandsAsWritten(t *testing.T) {
	t.Parallel()
	for name, say := range map[string]func(s *stage, n int){
		"in the conversation": func(s *stage, n int) { s.repo.Comment("alice", n, "Now.\n\nlockstep apply") },
		"in a review":         func(s *stage, n int) { s.repo.Review("bob", n, github.Commented, "lockstep apply") },
		"on a line":           func(s *stage, n int) { s.repo.CommentOn("bob", n, "b.tf", "lockstep apply") },
	} {
		s := newStage(t, githubtest.Files{"main.tf": resource("a", "1")})
		n := s.pull("alice", "b", githubtest.Files{"b.tf": resource("b", "1")})
		say(s, n)
		s.settle()
		if r := s.runOf(n); r.Phase != runs.Applied {
			t.Errorf("%s: the plan is %s", name, r.Phase)
		}
	}
}

// TestOldCommandSignedAnew carries out an attack: a command is signed once more, as if it was written after the plan that is shown by now.
func TestOldCommandSignedAnew(t *testing.T) {
	t.Parallel()
	s := newStage(t, githubtest.Files{"main.tf": resource("a", "1")})
	s.repo.Push("alice", "b", "Change", githubtest.Files{"b.tf": resource("b", "1")})
	n := s.repo.OpenPull("alice", "Change", "b")
	s.repo.CommentOn("alice", n, "b.tf", "lockstep apply")
	var old pipeline.Message
	s.settleKeeping(func(m pipeline.Message) bool {
		if m.Kind == pipeline.Commanded {
			old = m
		}
		return m.Kind == pipeline.Commanded
	})
	old.ID, old.At = "forged", s.hub.Now().Add(time.Minute)
	if err := s.pipeline.Handle(t.Context(), old); err != nil {
		t.Fatal(err)
	}
	s.settle()
	if r := s.runOf(n); r.Phase != runs.Planned || old.Written.Line == 0 {
		t.Errorf("%+v: the plan is %s", old, r.Phase)
	}
}
