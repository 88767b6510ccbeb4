package github_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lockstep-iac/lockstep/github"
	"github.com/lockstep-iac/lockstep/github/githubtest"
)

// TestMergeResult holds that the trial merge is always of the present pair.
func TestMergeResult(t *testing.T) { synctest.Test(t, testMergeResult) }

func testMergeResult(t *testing.T) {
	s := newSetting(t)
	pair := func() github.Merge {
		return github.Merge{Base: s.repo.Head("main"), BaseRef: "main", Head: s.repo.Head("topic")}
	}
	merge := func() github.Merge {
		t.Helper()
		m, err := s.client.MergeResult(t.Context(), 1)
		if err != nil {
			t.Fatal(err)
		}
		if (m.SHA == "") != m.Conflict || m.Updated.IsZero() {
			t.Errorf("%+v", m)
		}
		want := pair()
		want.SHA, want.Conflict, want.Updated = m.SHA, m.Conflict, m.Updated
		if diff := cmp.Diff(want, m); diff != "" {
			t.Error(diff)
		}
		return m
	}
	first := merge()
	if again := merge(); again != first {
		t.Errorf("%+v, then %+v", first, again)
	}
	if b, err := s.client.File(t.Context(), first.SHA, "main.tf"); err != nil || string(b) != "one\ntwo\n" {
		t.Errorf("what is in it: %q, %v", b, err)
	}
	s.repo.Push("bob", "main", "Elsewhere", githubtest.Files{"other.tf": "x\n"})
	if moved := merge(); moved.SHA == first.SHA {
		t.Error("the base moved, and the merge did not")
	}
	if p, err := s.client.PullRequest(t.Context(), 1); err != nil || p.Base.SHA != first.Base {
		t.Errorf("the base as GitHub remembers it: %+v, %v", p.Base, err)
	}
	s.repo.LagMerges(3)
	before := time.Now()
	s.repo.Push("alice", "topic", "More", githubtest.Files{"main.tf": "one\ntwo\nthree\n"})
	if b, err := s.client.File(t.Context(), merge().SHA, "main.tf"); err != nil || string(b) != "one\ntwo\nthree\n" {
		t.Errorf("after waiting: %q, %v", b, err)
	}
	if waited := time.Since(before); waited != 3500*time.Millisecond {
		t.Errorf("it took %s", waited)
	}
	s.repo.Push("bob", "main", "The same line", githubtest.Files{"main.tf": "zero\n"})
	if !merge().Conflict {
		t.Error("a conflict was not seen")
	}
}

// TestNoMergeYet holds that an old trial merge is not taken for the present one, be it
// that GitHub says so, or that it has just not noticed.
func TestNoMergeYet(t *testing.T) { synctest.Test(t, testNoMergeYet) }

func testNoMergeYet(t *testing.T) {
	s := newSetting(t)
	start := time.Now()
	s.repo.LagMerges(-1)
	if m, err := s.client.MergeResult(t.Context(), 1); !errors.Is(err, github.ErrNotYet) {
		t.Errorf("none was made yet: %+v, %v", m, err)
	}
	if waited := time.Since(start); waited < 10*time.Second || waited > 20*time.Second {
		t.Errorf("it was waited for %s", waited)
	}
	s.repo.LagMerges(0)
	s.connect(t, func(c *github.AppConfig) { c.MaxMergeWait = time.Nanosecond })
	if _, err := s.client.MergeResult(t.Context(), 1); err != nil {
		t.Fatal(err)
	}
	// Somebody pushes to the base after GitHub has said that all is well.
	pushed := false
	s.fault = func(_ http.ResponseWriter, r *http.Request) bool {
		if strings.HasSuffix(r.URL.Path, "/git/ref/heads/main") && !pushed {
			pushed = true
			s.repo.Push("bob", "main", "Meanwhile", githubtest.Files{"meanwhile.tf": "x\n"})
		}
		return false
	}
	if m, err := s.client.MergeResult(t.Context(), 1); !errors.Is(err, github.ErrNotYet) || !pushed {
		t.Errorf("the base moved meanwhile: %+v, %v", m, err)
	}
	s.fault = nil
	s.connect(t, func(*github.AppConfig) {})
	s.repo.LagMerges(-1)
	s.repo.Push("alice", "topic", "More", githubtest.Files{"main.tf": "more\n"})
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
	defer cancel()
	if m, err := s.client.MergeResult(ctx, 1); !errors.Is(err, github.ErrNotYet) || ctx.Err() != nil {
		t.Errorf("no time to wait: %+v, %v", m, err)
	}
}

func TestMergeResultOfNone(t *testing.T) {
	s := newSetting(t)
	if _, err := s.client.MergeResult(t.Context(), 99); !errors.Is(err, github.ErrNotFound) {
		t.Errorf("no such pull request: %v", err)
	}
	s.repo.Close("alice", 1)
	if _, err := s.client.MergeResult(t.Context(), 1); err == nil || !strings.Contains(err.Error(), "not open") {
		t.Errorf("a closed one: %v", err)
	}
}

// TestTip holds that a branch is where it was pushed to last.
func TestTip(t *testing.T) {
	s := newSetting(t)
	s.repo.Push("alice", "release/1", "More", githubtest.Files{"more": "1"})
	for _, branch := range []string{"main", "release/1"} {
		if sha, err := s.client.Tip(t.Context(), branch); err != nil || sha != s.repo.Head(branch) {
			t.Errorf("%s: %s, %v", branch, sha, err)
		}
	}
	if _, err := s.client.Tip(t.Context(), "none"); !errors.Is(err, github.ErrNotFound) {
		t.Errorf("a branch that is not there: %v", err)
	}
}

// TestMergedOnto holds which commit a merge came on top of, by each way to merge.
func TestMergedOnto(t *testing.T) {
	for name, merge := range map[string]func(*githubtest.Repository) string{
		"merge":  func(r *githubtest.Repository) string { return r.Merge("bob", 1) },
		"squash": func(r *githubtest.Repository) string { return r.Squash("bob", 1) },
		"rebase": func(r *githubtest.Repository) string { return r.Rebase("bob", 1) },
	} {
		s := newSetting(t)
		s.repo.Push("alice", "topic", "Two", githubtest.Files{"two.tf": "x\n"})
		s.repo.Push("alice", "topic", "Three", githubtest.Files{"three.tf": "x\n"})
		if _, _, err := s.client.MergedOnto(t.Context(), 1); !errors.Is(err, github.ErrNotFound) {
			t.Errorf("%s, before: %v", name, err)
		}
		before := s.repo.Push("bob", "main", "Elsewhere", githubtest.Files{"other.tf": "x\n"})
		sha := merge(s.repo)
		s.repo.Push("bob", "main", "Later", githubtest.Files{"other.tf": "y\n"})
		if onto, landed, err := s.client.MergedOnto(t.Context(), 1); err != nil || onto != before || landed != sha {
			t.Errorf("%s: %s by %s, want %s by %s; %v", name, onto, landed, before, sha, err)
		}
	}
}
