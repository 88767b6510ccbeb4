package github_test

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/lockstep-iac/lockstep/github"
	"github.com/lockstep-iac/lockstep/github/githubtest"
)

// TestTokens holds that one token serves many calls, and that a new one is got when
// the old one is refused.
func TestTokens(t *testing.T) {
	s := newSetting(t)
	read := func() {
		t.Helper()
		if _, err := s.client.PullRequest(t.Context(), 1); err != nil {
			t.Fatal(err)
		}
	}
	read()
	read()
	if n := s.count("/access_tokens"); n != 1 {
		t.Errorf("%d tokens for two calls", n)
	}
	other, err := s.app.Repository(s.repo.Installation(), s.repo.Repo())
	if err != nil {
		t.Fatal(err)
	}
	s.client = other
	read()
	if n := s.count("/access_tokens"); n != 1 {
		t.Errorf("%d tokens for two clients of one repository", n)
	}
	s.hub.ExpireTokens()
	read()
	if n := s.count("/access_tokens"); n != 2 {
		t.Errorf("%d tokens after the first was refused", n)
	}
}

// TestTokenEndsSoon holds that a token which ends within minutes is replaced before
// it is refused.
func TestTokenEndsSoon(t *testing.T) {
	s := newSetting(t)
	for _, test := range []struct {
		life time.Duration
		want int // tokens for two calls
	}{{time.Hour, 1}, {4 * time.Minute, 2}} {
		asked := 0
		s.fault = func(w http.ResponseWriter, r *http.Request) bool {
			switch {
			case strings.HasSuffix(r.URL.Path, "/access_tokens"):
				asked++
				w.WriteHeader(http.StatusCreated)
				fmt.Fprintf(w, `{"token":"any shape at all","expires_at":%q}`, time.Now().Add(test.life).Format(time.RFC3339))
			default:
				io.WriteString(w, `{"permission":"read"}`)
			}
			return true
		}
		s.connect(t, func(*github.AppConfig) {})
		for range 2 {
			if _, err := s.client.Permission(t.Context(), "alice"); err != nil {
				t.Fatal(err)
			}
		}
		if asked != test.want {
			t.Errorf("a token that lives %s: %d for two calls", test.life, asked)
		}
	}
}

// TestConfusedDeputy holds that one installation's event cannot reach another
// installation's repository, nor another one of its own.
func TestConfusedDeputy(t *testing.T) {
	s := newSetting(t)
	victim := s.hub.AddRepository("victim", "infra", githubtest.Files{"main.tf": ""})
	neighbour := s.hub.AddRepository("acme", "neighbour", githubtest.Files{"main.tf": ""})
	victim.Push("victim", "b", "B", githubtest.Files{"main.tf": "b\n"})
	victim.OpenPull("victim", "B", "b")
	stranger, err := s.app.Repository(s.repo.Installation(), victim.Repo())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := stranger.PullRequest(t.Context(), 1); err == nil {
		t.Error("another installation's repository was read")
	}
	// The name is the victim's, the ID our own: the token opens our own only.
	disguised := victim.Repo()
	disguised.ID = s.repo.Repo().ID
	liar, err := s.app.Repository(s.repo.Installation(), disguised)
	if err != nil {
		t.Fatal(err)
	}
	if p, err := liar.PullRequest(t.Context(), 1); err != nil || p.Base.Repo != s.repo.Repo() {
		t.Errorf("the repository of the ID was not read, but %+v, %v", p.Base.Repo, err)
	}
	if err := liar.Confirm(t.Context(), 1); !errors.Is(err, github.ErrNotFound) {
		t.Errorf("a name of another one is confirmed: %v", err)
	}
	// The same with a neighbour in our own installation.
	disguised = neighbour.Repo()
	disguised.ID = s.repo.Repo().ID
	if liar, err = s.app.Repository(neighbour.Installation(), disguised); err != nil {
		t.Fatal(err)
	}
	if _, err := liar.File(t.Context(), neighbour.Head("main"), "main.tf"); err == nil {
		t.Error("a token opens more than its repository")
	}
	if err := liar.Confirm(t.Context(), 1); !errors.Is(err, github.ErrNotFound) {
		t.Errorf("a neighbour's name is confirmed: %v", err)
	}
	if _, err := s.app.Repository(s.repo.Installation(), github.Repo{ID: 1, Owner: "..", Name: "x"}); err == nil {
		t.Error("a path was taken for a repository")
	}
}

// TestSecretsStayInside holds that neither key nor tokens are in what a program could
// print of the App, its client, and errors.
func TestSecretsStayInside(t *testing.T) {
	s := newSetting(t)
	if _, err := s.client.PullRequest(t.Context(), 1); err != nil {
		t.Fatal(err)
	}
	var secrets []string
	for _, r := range s.requests {
		_, auth, _ := strings.Cut(r, " /")
		if w := strings.Fields(auth); len(w) == 3 {
			secrets = append(secrets, w[2])
		}
	}
	if len(secrets) != 2 { // App's and installation's
		t.Fatalf("%q", s.requests)
	}
	s.fault = func(w http.ResponseWriter, r *http.Request) bool {
		w.WriteHeader(http.StatusForbidden)
		io.WriteString(w, `{"message":"no"}`)
		return true
	}
	_, err := s.client.PullRequest(t.Context(), 2)
	if err == nil || err.Error() != "read pull request acme/infra#2: GitHub says 403 Forbidden: no" {
		t.Errorf("error: %v", err)
	}
	printed := fmt.Sprintf("%v %+v %#v %v %+v %#v %v %+v", s.app, s.app, s.app, s.client, s.client, s.client, err, errors.Unwrap(err))
	for _, secret := range append(secrets, "PRIVATE KEY", "MII") {
		if strings.Contains(printed, secret) {
			t.Errorf("%.20q... is printed", secret)
		}
	}
}

func TestAppConfig(t *testing.T) {
	good := githubtest.New(githubtest.Options{}).App("")
	for name, test := range map[string]struct {
		change func(*github.AppConfig)
		fails  string
	}{
		"good":         {func(c *github.AppConfig) {}, ""},
		"no ID":        {func(c *github.AppConfig) { c.ID = 0 }, "no ID"},
		"no key":       {func(c *github.AppConfig) { c.Key = github.Secret{} }, "not an RSA key"},
		"bad key":      {func(c *github.AppConfig) { c.Key = github.NewSecret("hush") }, "not an RSA key"},
		"http":         {func(c *github.AppConfig) { c.URL = "http://github.example/api/v3" }, "not an https URL"},
		"loopback":     {func(c *github.AppConfig) { c.URL = "http://127.0.0.1:80" }, ""},
		"almost":       {func(c *github.AppConfig) { c.URL = "http://127.0.0.1.github.example" }, "not an https URL"},
		"no URL":       {func(c *github.AppConfig) { c.URL = "github" }, "not an https URL"},
		"own instance": {func(c *github.AppConfig) { c.URL = "https://github.example/api/v3" }, ""},
	} {
		config := good
		test.change(&config)
		_, err := github.NewApp(config)
		if (err == nil) != (test.fails == "") || err != nil && (!strings.Contains(err.Error(), test.fails) || strings.Contains(err.Error(), "hush")) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
