package github_test

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lockstep-iac/lockstep/github"
	"github.com/lockstep-iac/lockstep/github/githubtest"
)

// TestFetch gets other repositories than the one that somebody is asked about: those of
// the installation with a token for each, public ones without any.
func TestFetch(t *testing.T) {
	s := newSetting(t)
	other := s.hub.AddRepository("acme", "net", githubtest.Files{"main.tf": "v1\n"})
	other.SetPrivate()
	v1 := other.Tag("v1", "main")
	other.Push("alice", "feature/a#b", "Second", githubtest.Files{"main.tf": "v2\n"})
	s.hub.AddRepository("acme", "open", githubtest.Files{"main.tf": "open\n"})
	elsewhere := s.hub.AddRepository("example", "net", githubtest.Files{"main.tf": "elsewhere\n"})
	private := s.hub.AddRepository("example", "secret", githubtest.Files{"main.tf": "secret\n"})
	private.SetPrivate()
	taken := s.hub.AddRepository("acme", "taken", githubtest.Files{"main.tf": "taken\n"})
	taken.SetPrivate()
	taken.Uninstall("alice")

	installed := func(r github.Ref, dir string) error {
		return s.app.Fetch(t.Context(), s.repo.Installation(), r, dir)
	}
	public := func(r github.Ref, dir string) error { return s.app.FetchPublic(t.Context(), r, dir) }
	for _, test := range []struct {
		what             string
		fetch            func(github.Ref, string) error
		owner, name, ref string
		want             string // content of main.tf; "": not found
	}{
		{"a tag", installed, "acme", "net", "v1", "v1\n"},
		{"a branch", installed, "acme", "net", "feature/a#b", "v2\n"},
		{"the default branch, in other letters", installed, "Acme", "NET", "HEAD", "v1\n"},
		{"a commit", installed, "acme", "net", v1, "v1\n"},
		{"a public one", installed, "acme", "open", "main", "open\n"},
		{"no such ref", installed, "acme", "net", "v3", ""},
		{"no such repository", installed, "acme", "none", "HEAD", ""},
		{"one that the App was taken from", installed, "acme", "taken", "HEAD", ""},
		{"another account's", installed, "example", "secret", "HEAD", ""},
		{"another account's, of the same name as one of ours", installed, "example", "net", elsewhere.Head("main"), ""},
		{"a public one, by nobody", public, "acme", "open", "HEAD", "open\n"},
		{"another account's, by nobody", public, "example", "net", "main", "elsewhere\n"},
		{"a private one, by nobody", public, "acme", "net", "v1", ""},
		{"no such ref, by nobody", public, "acme", "open", "v3", ""},
	} {
		dir := t.TempDir()
		err := test.fetch(github.Ref{Owner: test.owner, Name: test.name, Ref: test.ref}, dir)
		got, _ := os.ReadFile(filepath.Join(dir, "main.tf"))
		switch {
		case string(got) != test.want:
			t.Errorf("%s: %q, %v", test.what, got, err)
		case test.want == "" && !errors.Is(err, github.ErrNotFound):
			t.Errorf("%s: %v", test.what, err)
		case test.want != "" && err != nil:
			t.Errorf("%s: %v", test.what, err)
		}
		for _, secret := range s.hub.Given() {
			if err != nil && strings.Contains(err.Error(), secret) {
				t.Errorf("%s: a token is said: %v", test.what, err)
			}
		}
	}
}

// TestNoToken holds that only what GitHub says about the repository itself is taken for
// that: what is not there is passed over, and people would never hear of the rest.
func TestNoToken(t *testing.T) {
	for message, gone := range map[string]bool{
		"There is at least one repository that does not exist or is not accessible to the parent installation.": true,
		"The permissions requested are not granted to this installation.":                                       false,
		"Validation failed, or the endpoint has been spammed.":                                                  false,
	} {
		s := newSetting(t)
		s.fault = func(w http.ResponseWriter, r *http.Request) bool {
			if !strings.HasSuffix(r.URL.Path, "/access_tokens") {
				return false
			}
			w.WriteHeader(http.StatusUnprocessableEntity)
			fmt.Fprintf(w, `{"message":%q}`, message)
			return true
		}
		_, err := s.client.PullRequest(t.Context(), 1)
		if err == nil || errors.Is(err, github.ErrNotFound) != gone {
			t.Errorf("%s: %v", message, err)
		}
	}
}

// TestFetchNeverLends holds that the token for a repository's files opens nothing else,
// and that nobody's requests have none.
func TestFetchNeverLends(t *testing.T) {
	s := newSetting(t)
	s.hub.AddRepository("acme", "net", githubtest.Files{"main.tf": ""}).SetPrivate()
	if err := s.app.FetchPublic(t.Context(), github.Ref{Owner: "acme", Name: "infra", Ref: "HEAD"}, t.TempDir()); err != nil {
		t.Error(err)
	}
	for _, r := range s.requests {
		if !strings.HasSuffix(r, " ") {
			t.Errorf("with a token: %s", r)
		}
	}
	if err := s.app.Fetch(t.Context(), s.repo.Installation(), github.Ref{Owner: "acme", Name: "net", Ref: "HEAD"}, t.TempDir()); err != nil {
		t.Error(err)
	}
	token := ""
	for _, r := range s.requests {
		if _, text, ok := strings.Cut(r, " token "); ok {
			token = text
		}
	}
	for path, want := range map[string]int{"/repos/acme/net/contents/main.tf": 200, "/repos/acme/net/pulls": 403, "/repos/acme/infra/contents/main.tf": 404} {
		req := httptest.NewRequest(http.MethodGet, path, nil)
		req.Header.Set("Authorization", "token "+token)
		w := httptest.NewRecorder()
		if s.hub.ServeHTTP(w, req); w.Code != want {
			t.Errorf("%s: %d, want %d", path, w.Code, want)
		}
	}
}

// TestRefs holds that nothing but a ref's name becomes a part of an address.
func TestRefs(t *testing.T) {
	s := newSetting(t)
	for _, ref := range []string{"", "..", "a/../b", "../../other", "a//b", "/a", "a/", ".a", "a b", "a\nb", "a?b", "a:b", "a~1", "a^", `a\b`, "a*", "[a", strings.Repeat("x", 256)} {
		err := s.app.FetchPublic(t.Context(), github.Ref{Owner: "acme", Name: "infra", Ref: ref}, t.TempDir())
		if err == nil || !strings.Contains(err.Error(), "is not the name of") {
			t.Errorf("%q: %v", ref, err)
		}
	}
	for _, name := range []string{"", "..", "a/b", "a?b"} {
		if err := s.app.FetchPublic(t.Context(), github.Ref{Owner: "acme", Name: name, Ref: "v1"}, t.TempDir()); err == nil || !strings.Contains(err.Error(), "is not the name of a repository") {
			t.Errorf("%q: %v", name, err)
		}
	}
	if len(s.requests) != 0 {
		t.Errorf("asked for %q", s.requests)
	}
}

// TestFetchPublicAddress holds that archives of GitHub's public repositories are not
// asked of its API, which answers nobody in particular 60 times an hour.
func TestFetchPublicAddress(t *testing.T) {
	s := newSetting(t)
	var asked []string
	if !s.app.OfGitHubCom() {
		t.Error("the own machine does not stand for github.com")
	}
	s.connect(t, func(c *github.AppConfig) {
		c.URL = ""
		c.Transport = roundTrip(func(req *http.Request) (*http.Response, error) {
			asked = append(asked, req.URL.String()+req.Header.Get("Authorization"))
			res := &http.Response{StatusCode: http.StatusNotFound, Header: http.Header{}, Body: http.NoBody, Request: req}
			if req.URL.Host == "github.com" {
				res.StatusCode = http.StatusFound
				res.Header.Set("Location", "https://codeload.github.com/x")
			}
			return res, nil
		})
	})
	err := s.app.FetchPublic(t.Context(), github.Ref{Owner: "acme", Name: "net", Ref: "feature/a#b"}, t.TempDir())
	if !errors.Is(err, github.ErrNotFound) {
		t.Error(err)
	}
	if !s.app.OfGitHubCom() {
		t.Error("it is not an App of github.com")
	}
	if other, err := github.NewApp(github.AppConfig{ID: 1, Key: s.hub.App("").Key, URL: "https://github.example.com/api/v3"}); err != nil || other.OfGitHubCom() {
		t.Errorf("an Enterprise's is taken for github.com's: %v", err)
	}
	want := []string{"https://github.com/acme/net/archive/feature/a%23b.tar.gz", "https://codeload.github.com/x"}
	if diff := cmp.Diff(want, asked); diff != "" {
		t.Error(diff)
	}
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(req *http.Request) (*http.Response, error) { return f(req) }
