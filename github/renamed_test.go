package github_test

import (
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/lockstep-iac/lockstep/github"
	"github.com/lockstep-iac/lockstep/github/githubtest"
)

// TestRenamed holds that a client reads and writes the repository of its ID, whatever the name of that is by now, and whoever
// has the former one.
func TestRenamed(t *testing.T) {
	s := newSetting(t)
	do := func(when, name string) {
		t.Helper()
		p, err := s.client.PullRequest(t.Context(), 1)
		if err != nil || p.Base.Repo.String() != name {
			t.Errorf("%s: the pull request is of %s, %v", when, p.Base.Repo, err)
		}
		if tip, err := s.client.Tip(t.Context(), "main"); err != nil || tip != s.repo.Head("main") {
			t.Errorf("%s: the tip is %s, %v", when, tip, err)
		}
		if _, _, err := s.client.PutComment(t.Context(), 1, github.Earlier{}, "<!-- "+when+" -->", "<!-- "+when+" --> text"); err != nil {
			t.Errorf("%s: %v", when, err)
		}
		if _, err := s.client.Discussion(t.Context(), 1); err != nil {
			t.Errorf("%s: %v", when, err)
		}
		if _, err := s.client.Checkout(t.Context(), s.repo.Head("topic"), t.TempDir()); err != nil {
			t.Errorf("%s: %v", when, err)
		}
	}
	do("before", "acme/infra")
	s.repo.Rename("acme", "platform")
	do("renamed", "acme/platform")
	if err := s.client.Confirm(t.Context(), 1); err != nil {
		t.Errorf("GitHub leads by the former name to it: %v", err)
	}
	other := s.hub.AddRepository("acme", "infra", githubtest.Files{"main.tf": "other\n"})
	other.Push("mallory", "topic", "Topic", githubtest.Files{"main.tf": "evil\n"})
	other.OpenPull("mallory", "Topic", "topic")
	do("the name is taken", "acme/platform")
	if got := other.Comments(1); len(got) != 0 {
		t.Errorf("the new repository has %+v", got)
	}
	if err := s.client.Confirm(t.Context(), 1); !errors.Is(err, github.ErrNotFound) {
		t.Errorf("by the former name there is another one now: %v", err)
	}
	s.repo.Transfer("acme", "beta")
	if _, err := s.client.PullRequest(t.Context(), 1); !errors.Is(err, github.ErrNotFound) {
		t.Errorf("once it is another account's: %v", err)
	}
}

// TestFormerNames holds that this GitHub leads requests by a former name on, with their method and body.
func TestFormerNames(t *testing.T) {
	s := newSetting(t)
	if _, err := s.client.PullRequest(t.Context(), 1); err != nil {
		t.Fatal(err)
	}
	s.repo.Rename("acme", "platform")
	token := s.hub.Given()[0]
	for method, want := range map[string]int{http.MethodGet: http.StatusMovedPermanently, http.MethodPost: http.StatusTemporaryRedirect} {
		req, err := http.NewRequestWithContext(t.Context(), method, hubURL+"/repos/Acme/infra/issues/1/comments?page=2", strings.NewReader(`{"body":"x"}`))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Authorization", "token "+token)
		res, err := s.RoundTrip(req)
		if err != nil {
			t.Fatal(err)
		}
		res.Body.Close()
		if at := res.Header.Get("Location"); res.StatusCode != want || !strings.HasSuffix(at, "/repositories/1001/issues/1/comments?page=2") {
			t.Errorf("%s: %s to %s", method, res.Status, at)
		}
	}
}
