package dispatch_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/lockstep-iac/lockstep/functions/pipeline"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/memory"
	"github.com/lockstep-iac/lockstep/github"
	"github.com/lockstep-iac/lockstep/github/githubtest"
)

// TestRightsAreThePresentBase holds that an apply has the rights that the base branch
// grants when it is made, not those of when it was planned.
func TestRightsAreThePresentBase(t *testing.T) {
	t.Parallel()
	mine := func(apply, allow string) string {
		return "project \"net\" {\n  dir   = \"net\"\n  apply = \"" + apply + "\"\n}\nallow {\n" + allow + "}\n"
	}
	plan := func(t *testing.T) (*stage, int) {
		s := newStage(t, githubtest.Files{"lockstep.hcl": mine("comment", "  provisioners = true\n"), "net/main.tf": resource("vpc", "v1")})
		n := s.pull("alice", "b", githubtest.Files{"net/b.tf": "resource \"terraform_data\" \"x\" {\n  provisioner \"local-exec\" {\n    command = \"true\"\n  }\n}\n"})
		s.expect("the status", s.status(n), "2 to add")
		return s, n
	}
	t.Run("provisioners", func(t *testing.T) {
		t.Parallel()
		s, n := plan(t)
		s.repo.Push("bob", "main", "No provisioners", githubtest.Files{"lockstep.hcl": mine("comment", "")})
		got := s.say("alice", n, "lockstep apply")
		s.expect("the apply", got, "**Not applied** `net`", "The plan is out of date, because the base branch has changed in these files: `lockstep.h", "A change of any file makes this plan out of date: `lockstep.hcl` lets programs run in the plan, and programs can read every file.")
		s.expect("a new plan", s.say("alice", n, "lockstep plan"), "Provisioners are not allowed")
		if strings.Contains(got, "**Applied**") {
			t.Errorf("it was applied:\n%s", got)
		}
	})
	t.Run("occasion", func(t *testing.T) {
		t.Parallel()
		s, n := plan(t)
		s.repo.Push("bob", "main", "On merge", githubtest.Files{"lockstep.hcl": mine("merge", "  provisioners = true\n")})
		s.expect("the apply", s.say("alice", n, "lockstep apply"), "**Not applied** `net`", "the base branch has changed")
	})
}

// TestMergedByBot holds that what a merge queue merges is applied.
func TestMergedByBot(t *testing.T) {
	t.Parallel()
	s := newStage(t, onMerge())
	n := s.pull("alice", "subnet", githubtest.Files{"net/subnet.tf": resource("subnet", "v1")})
	s.repo.Merge("queue[bot]", n)
	s.settle()
	s.expect("the answer", s.answer(n, "merge"), "**Applied** `net`: 2 added")
}

// forgets lets GitHub forget what is checked out for messages of a kind.
func (s *stage) forgets(kind pipeline.Kind, lost func(sha string) bool, meanwhile func()) {
	on := false
	s.gate(func(ctx context.Context, x memory.Effect, do func(context.Context) error) error {
		if x.Call == "checkout" && on && lost(x.With.(string)) {
			meanwhile()
			return github.ErrNotFound
		}
		return do(ctx)
	})
	for {
		sent, err := s.hub.Deliver(s.t.Context())
		if err != nil {
			s.t.Fatal(err)
		}
		handled := s.drain(s.t.Context(), func(ctx context.Context, m pipeline.Message) error {
			on = m.Kind == kind
			err := s.pipeline.Handle(ctx, m)
			if errors.Is(err, github.ErrNotFound) {
				s.t.Errorf("%s is tried again: %v", m.Kind, err)
			}
			return err
		})
		if sent+handled == 0 {
			return
		}
	}
}

func all(string) bool { return true }

// TestForgottenCommit holds that a commit which GitHub has forgotten is spoken of: it is
// neither tried for ever nor passed over.
func TestForgottenCommit(t *testing.T) {
	t.Parallel()
	const words = "GitHub no longer has the planned commit"
	t.Run("plan", func(t *testing.T) {
		t.Parallel()
		s := newStage(t, githubtest.Files{"main.tf": resource("a", "1")})
		s.repo.Push("alice", "b", "B", githubtest.Files{"b.tf": resource("b", "1")})
		n := s.repo.OpenPull("alice", "B", "b")
		s.forgets(pipeline.ToPlan, all, func() {})
		s.expect("the status", s.status(n), "failed to plan", words, "Comment `lockstep plan`")
		s.expect("the check", s.check("b"), "failure Failed to plan")
	})
	t.Run("apply", func(t *testing.T) {
		t.Parallel()
		s := newStage(t, githubtest.Files{"main.tf": resource("a", "1")})
		n := s.pull("alice", "b", githubtest.Files{"b.tf": resource("b", "1")})
		id := s.repo.Comment("alice", n, "lockstep apply")
		s.forgets(pipeline.ToApply, all, func() {})
		s.expect("the answer", s.answerTo(n, id), "**Not applied** `.`", words)
		s.expect("the status", s.status(n), "out of date")
	})
	t.Run("unlock", func(t *testing.T) {
		t.Parallel()
		s := newStage(t, githubtest.Files{"main.tf": resource("a", "1")})
		n := s.pull("alice", "b", githubtest.Files{"b.tf": resource("b", "1")})
		id := s.repo.Comment("alice", n, "lockstep unlock")
		s.forgets(pipeline.Commanded, all, func() {})
		s.expect("the answer", s.answerTo(n, id), "**Not unlocked** `.`", words)
	})
	t.Run("a conflict since", func(t *testing.T) {
		t.Parallel()
		s := newStage(t, githubtest.Files{"main.tf": resource("a", "1")})
		s.repo.Push("alice", "b", "B", githubtest.Files{"main.tf": resource("a", "2")})
		n := s.repo.OpenPull("alice", "B", "b")
		hit := false
		s.forgets(pipeline.ToPlan, all, func() {
			if !hit {
				hit = true
				s.repo.Push("bob", "main", "Otherwise", githubtest.Files{"main.tf": resource("a", "3")})
			}
		})
		s.expect("the status", s.status(n), "conflicts with the base branch")
		s.expect("the check", s.check("b"), "failure Failed to plan")
	})
}

// TestRenamedProject holds that a project which the base branch has under another name
// by now is not planned as if it had no files, and not applied.
func TestRenamedProject(t *testing.T) {
	t.Parallel()
	rename := githubtest.Files{"lockstep.hcl": "project \"network\" {\n  dir = \"net\"\n}\n"}
	t.Run("plan", func(t *testing.T) {
		t.Parallel()
		s := newStage(t, githubtest.Files{"lockstep.hcl": "project \"net\" {\n  dir = \"net\"\n}\n", "net/main.tf": resource("a", "1")})
		s.repo.Push("alice", "b", "B", githubtest.Files{"net/b.tf": resource("b", "1")})
		n := s.repo.OpenPull("alice", "B", "b")
		first := ""
		s.forgets(pipeline.ToPlan, func(sha string) bool {
			if first == "" {
				first = sha
				s.repo.Push("bob", "main", "A better name", rename)
			}
			return sha == first
		}, func() {})
		s.expect("the status", s.status(n), "failed to plan", "the project is not in the checkout: net")
	})
	t.Run("apply", func(t *testing.T) {
		t.Parallel()
		s := newStage(t, githubtest.Files{"lockstep.hcl": "project \"net\" {\n  dir = \"net\"\n}\n", "net/main.tf": resource("a", "1")})
		n := s.pull("alice", "b", githubtest.Files{"net/b.tf": resource("b", "1")})
		s.repo.Push("bob", "main", "A better name", rename)
		s.expect("the apply", s.say("alice", n, "lockstep apply"), "**Not applied** `net`", "has changed in these files", "`net/main.tf`")
	})
}
