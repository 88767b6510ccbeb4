package github_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/lockstep-iac/lockstep/github"
	"github.com/lockstep-iac/lockstep/github/githubtest"
)

func TestPullRequest(t *testing.T) {
	s := newSetting(t)
	p, err := s.client.PullRequest(t.Context(), 1)
	if err != nil {
		t.Fatal(err)
	}
	repo := s.repo.Repo()
	want := github.PullRequest{
		Number: 1, Title: "Second line", Author: "alice", Open: true,
		Head: github.Branch{Repo: repo, Ref: "topic", SHA: s.repo.Head("topic")},
		Base: github.Branch{Repo: repo, Ref: "main", SHA: s.repo.Head("main")},
		URL:  "https://github.example/acme/infra/pull/1", DefaultBranch: "main", MergeState: "clean",
	}
	if p.MergeSHA == "" {
		t.Error("there is no trial merge")
	}
	if p.Updated.IsZero() || p.Updated.After(s.hub.Now()) || p.Created.IsZero() || p.Created.After(p.Updated) {
		t.Errorf("it was opened at %s, and updated at %s", p.Created, p.Updated)
	}
	p.MergeSHA, p.Updated, p.Created = "", time.Time{}, time.Time{}
	if diff := cmp.Diff(want, p); diff != "" {
		t.Error(diff)
	}
	if p.Fork() {
		t.Error("it is taken for a fork's")
	}
	merge := s.repo.Merge("alice", 1)
	if p, err = s.client.PullRequest(t.Context(), 1); err != nil || p.Open || !p.Merged || p.MergeSHA != merge {
		t.Errorf("after the merge: %+v, %v", p, err)
	}
	if _, err := s.client.PullRequest(t.Context(), 99); !errors.Is(err, github.ErrNotFound) || err.Error() != "read pull request acme/infra#99: not found" {
		t.Errorf("error: %v", err)
	}
}

func TestFork(t *testing.T) {
	s := newSetting(t)
	fork := s.repo.Fork("mallory")
	fork.Push("mallory", "evil", "Evil", githubtest.Files{"main.tf": "evil\n"})
	n := s.repo.OpenPullFrom(fork, "mallory", "Evil", "evil")
	if p, err := s.client.PullRequest(t.Context(), n); err != nil || !p.Fork() {
		t.Errorf("%+v, %v", p, err)
	}
	fork.Delete()
	if p, err := s.client.PullRequest(t.Context(), n); err != nil || !p.Fork() || p.Head.SHA == "" || p.Head.Repo.ID != 0 {
		t.Errorf("of a fork that was deleted: %+v, %v", p, err)
	}
}

func TestChangedFiles(t *testing.T) {
	s := newSetting(t)
	many := githubtest.Files{"main.tf": githubtest.Deleted}
	want := []string{}
	for i := range 120 { // more than one page
		name := fmt.Sprintf("many/%03d.tf", i)
		many[name] = "x\n"
		want = append(want, name)
	}
	s.repo.Push("alice", "many", "Many", many)
	n := s.repo.OpenPull("alice", "Many", "many")
	got, all, err := s.client.ChangedFiles(t.Context(), n)
	if err != nil || !all {
		t.Fatal(all, err)
	}
	if diff := cmp.Diff(append([]string{"main.tf"}, want...), github.PathsOf(got)); diff != "" {
		t.Error(diff)
	}
	if patch := got[1].Patch; patch != "@@ -0,0 +1 @@\n+x" {
		t.Errorf("the patch is %q", patch)
	}
}

func TestPermission(t *testing.T) {
	s := newSetting(t)
	s.repo.Grant("bob", "read")
	s.repo.Grant("carol", "none")
	for login, want := range map[string]github.Permission{
		"acme": github.AdminPermission, "alice": github.WritePermission, "bob": github.ReadPermission,
		"carol": github.NoPermission, "nobody": github.NoPermission, "robot[bot]": github.NoPermission,
	} {
		if got, err := s.client.Permission(t.Context(), login); err != nil || got != want {
			t.Errorf("%s: %s, %v", login, got, err)
		}
	}
	for _, login := range []string{"", "../..", "a/b", "alice?x=y"} {
		if _, err := s.client.Permission(t.Context(), login); err == nil {
			t.Errorf("%q was taken for a login", login)
		}
	}
}
