package github_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/lockstep-iac/lockstep/github"
	"github.com/lockstep-iac/lockstep/github/githubtest"
)

func TestFile(t *testing.T) {
	s := newSetting(t)
	s.repo.Push("alice", "files", "Files", githubtest.Files{
		"empty": "", "a b/ü#?.tf": "odd\n", "large": strings.Repeat("x", github.MaxFile), "too large": strings.Repeat("x", github.MaxFile+1),
	})
	sha := s.repo.Head("files")
	for path, want := range map[string]string{"main.tf": "one\n", "net/net.tf": "net\n", "empty": "", "a b/ü#?.tf": "odd\n", "large": strings.Repeat("x", github.MaxFile)} {
		if got, err := s.client.File(t.Context(), sha, path); err != nil || string(got) != want {
			t.Errorf("%s: %.20q, %v", path, got, err)
		}
	}
	for path, want := range map[string]string{
		"nothing.tf": "not found", "net": "not a file", "too large": "it is 1048577 bytes long, and 1048576 are allowed",
		"../x": "not the path of a file", "/main.tf": "not the path of a file", ".": "not the path of a file", "": "not the path of a file",
	} {
		if _, err := s.client.File(t.Context(), sha, path); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", path, err, want)
		}
	}
	if _, err := s.client.File(t.Context(), "main", "main.tf"); err == nil {
		t.Error("a branch was taken for a commit")
	}
	if _, err := s.client.File(t.Context(), strings.Repeat("0", 40), "main.tf"); !errors.Is(err, github.ErrNotFound) {
		t.Errorf("no such commit: %v", err)
	}
	victim := s.hub.AddRepository("victim", "infra", githubtest.Files{"main.tf": "secret"})
	if _, err := s.client.File(t.Context(), victim.Head("main"), "main.tf"); !errors.Is(err, github.ErrNotFound) {
		t.Errorf("another repository's commit: %v", err)
	}
}

func TestReviews(t *testing.T) {
	s := newSetting(t)
	s.repo.Review("bob", 1, github.Approved, "Fine.")
	s.repo.Review("carol", 1, github.ChangesRequested, "No.")
	s.repo.Review("bob", 1, github.Commented, "By the way ...")
	first := s.repo.Head("topic")
	s.repo.Push("alice", "topic", "Better", githubtest.Files{"main.tf": "better\n"})
	s.repo.Review("dave", 1, github.Approved, "")
	s.repo.Dismiss("alice", 1, "carol")
	for i := range 110 { // more than one page
		s.repo.Review("eve", 1, github.Commented, fmt.Sprint(i))
	}
	got, err := s.client.Reviews(t.Context(), 1)
	if err != nil {
		t.Fatal(err)
	}
	want := []github.Review{
		{Author: "bob", State: github.Approved, SHA: first}, {Author: "carol", State: github.Dismissed, SHA: first},
		{Author: "dave", State: github.Approved, SHA: s.repo.Head("topic")}, {Author: "eve", State: github.Commented, SHA: s.repo.Head("topic")},
	}
	if diff := cmp.Diff(want, got, cmpopts.IgnoreFields(github.Review{}, "At")); diff != "" {
		t.Error(diff)
	}
	for _, r := range got {
		if r.At.IsZero() {
			t.Errorf("%s's has no time", r.Author)
		}
	}
}

func TestOpenPulls(t *testing.T) {
	s := newSetting(t)
	want := []int{1}
	for i := range 105 { // more than one page
		branch := fmt.Sprint("b", i)
		s.repo.Push("alice", branch, "B", githubtest.Files{"b": branch})
		want = append([]int{s.repo.OpenPull("alice", "B", branch)}, want...)
	}
	s.repo.Close("alice", want[0])
	s.repo.Merge("alice", want[1])
	got, err := s.client.OpenPulls(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var numbers []int
	for _, p := range got {
		numbers = append(numbers, p.Number)
		if !p.Open || p.Merged || p.Head.SHA == "" {
			t.Errorf("%+v", p)
		}
	}
	if diff := cmp.Diff(want[2:], numbers); diff != "" {
		t.Error(diff)
	}
}

func TestCommentsSince(t *testing.T) {
	s := newSetting(t)
	s.repo.Comment("alice", 1, "old")
	edited := s.repo.Comment("alice", 1, "old, too")
	since := s.hub.Now().Add(1)
	s.repo.EditComment("alice", edited, "edited since")
	for range 101 { // more than one page
		s.repo.Comment("bob", 1, "chat")
	}
	id := s.repo.Comment("bob", 1, "lockstep plan")
	s.repo.EditComment("bob", id, "lockstep apply")
	if _, _, err := s.client.PutComment(t.Context(), 1, github.Earlier{}, "<!-- m -->", "<!-- m -->"); err != nil {
		t.Fatal(err)
	}
	got, err := s.client.CommentsSince(t.Context(), since)
	if err != nil {
		t.Fatal(err)
	}
	if len(got) != 103 {
		t.Fatalf("%d comments", len(got))
	}
	want := []github.Comment{
		{ID: 102, Number: 1, Author: "bob", Body: "chat"},
		{ID: 103, Number: 1, Author: "bob", Body: "chat"},
		{ID: id, Number: 1, Author: "bob", Body: "lockstep apply", Edited: true},
		{ID: id + 1, Number: 1, Author: "lockstep[bot]", Bot: true, Ours: true, Body: "<!-- m -->"},
	}
	if diff := cmp.Diff(want[1:], got[100:], cmpopts.IgnoreFields(github.Comment{}, "At", "Updated")); diff != "" {
		t.Error(diff)
	}
	// Those of one pull request include comments that were only edited since then.
	all, err := s.client.Comments(t.Context(), 1, since)
	if err != nil || len(all) != 104 || all[0].ID != edited || !all[0].Edited || all[0].Updated.Before(since) || all[0].At.After(since) {
		t.Errorf("%d comments, the first %+v, %v", len(all), all[0], err)
	}
	if all, err = s.client.Comments(t.Context(), 1, time.Time{}); err != nil || len(all) != 105 {
		t.Errorf("%d comments in all, %v", len(all), err)
	}
}

func TestDraftsAndBases(t *testing.T) {
	s := newSetting(t)
	s.repo.Push("alice", "release", "Release", githubtest.Files{"release": "1"})
	s.repo.Push("alice", "draft", "Draft", githubtest.Files{"draft": "1"})
	n := s.repo.OpenDraft("alice", "Draft", "draft")
	read := func() github.PullRequest {
		t.Helper()
		p, err := s.client.PullRequest(t.Context(), n)
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	if p := read(); !p.Draft || p.Base.Ref != "main" || p.MergedBy != "" {
		t.Errorf("%+v", p)
	}
	s.repo.Ready("alice", n)
	s.repo.Retarget("alice", n, "release")
	if p := read(); p.Draft || p.Base.Ref != "release" || p.Base.SHA != s.repo.Head("release") {
		t.Errorf("%+v", p)
	}
	s.repo.Close("alice", n)
	s.repo.Reopen("alice", n)
	s.repo.ForcePush("alice", "draft", "All anew", githubtest.Files{"new": "1"})
	if p := read(); !p.Open || p.Head.SHA != s.repo.Head("draft") {
		t.Errorf("%+v", p)
	}
	sha := s.repo.Squash("bob", n)
	if p := read(); !p.Merged || p.MergedBy != "bob" || p.MergeSHA != sha || s.repo.Head("release") != sha {
		t.Errorf("%+v", p)
	}
}
