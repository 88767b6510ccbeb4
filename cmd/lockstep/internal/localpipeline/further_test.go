package localpipeline

import (
	"fmt"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/lockstep-iac/lockstep/functions/pipeline/executor"
	"github.com/lockstep-iac/lockstep/github"
	"github.com/lockstep-iac/lockstep/github/githubtest"
)

// A server is a GitHub with a repository acme/infra and a pull request. Two have the same IDs.
type server struct {
	hub  *githubtest.Hub
	api  string
	repo *githubtest.Repository
}

func newServer(t *testing.T, secret string) *server {
	t.Helper()
	s := &server{hub: githubtest.New(githubtest.Options{Secret: github.NewSecret(secret)})}
	api := httptest.NewServer(s.hub)
	t.Cleanup(api.Close)
	s.api = api.URL
	s.repo = s.hub.AddRepository("acme", "infra", githubtest.Files{"main.tf": "terraform {\n  backend \"local\" {\n  }\n}\nresource \"terraform_data\" \"" + secret + "\" {\n}\n"})
	s.repo.Grant("alice", "write")
	return s
}

func (s *server) app(t *testing.T) *github.App {
	t.Helper()
	app, err := github.NewApp(s.hub.App(s.api))
	if err != nil {
		t.Fatal(err)
	}
	return app
}

func (s *server) said(n int) (text string) {
	for _, c := range s.repo.Comments(n) {
		text += c.Body
	}
	return text
}

// TestAppsShareNothing carries out an attack: a server of somebody's own, a GitHub Enterprise Server say, has a repository
// with the ID, owner and name of one on GitHub, and a pull request with the same number. It holds that plans and applies of
// one reach no records, plans and states of the other, and that a webhook of one server means nothing at the address for
// another's.
func TestAppsShareNothing(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	first, other := newServer(t, "first"), newServer(t, "other")
	if a, b := first.repo.Repo(), other.repo.Repo(); a != b || first.repo.Installation() != other.repo.Installation() {
		t.Fatalf("the attack needs the same repository: %+v, %+v", a, b)
	}
	m, err := Open(Config{
		Dir: dir, Version: "test", App: first.app(t), Serves: serving(t), Secret: github.NewSecret("first"), States: executor.States,
		Further: map[string]Further{"ghes": {App: other.app(t), Secret: github.NewSecret("other"), Serves: serving(t)}},
		URL:     "http://127.0.0.1:8080", Log: func(err error) { t.Error(err) },
	})
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	hooks := map[*server]string{}
	for s, h := range map[*server]*httptest.Server{first: httptest.NewServer(m.Webhook), other: httptest.NewServer(m.Webhooks()["ghes"])} {
		t.Cleanup(h.Close)
		s.hub.SetWebhook(h.URL)
		hooks[s] = h.URL
	}
	settle := func() {
		t.Helper()
		for {
			n, err := m.Settle(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			for _, s := range []*server{first, other} {
				sent, err := s.hub.Deliver(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				n += sent
			}
			if n == 0 {
				return
			}
		}
	}
	n := 0
	for _, s := range []*server{first, other} {
		s.repo.Push("alice", "b", "Change", githubtest.Files{"x.tf": "resource \"terraform_data\" \"x\" {\n}\n"})
		n = s.repo.OpenPull("alice", "Change", "b")
		settle()
	}
	before := kept(t, m, dir)
	other.repo.Comment("alice", n, "lockstep apply")
	settle()
	if got := other.said(n); !strings.Contains(got, "applied by") || strings.Contains(got, ".first") {
		t.Fatalf("the other server: %s", got)
	}
	if got := first.said(n); strings.Contains(got, "applied by") || strings.Contains(got, ".other") || !strings.Contains(got, "2 to add") {
		t.Errorf("the first server: %s", got)
	}
	if after := kept(t, m, dir); !slices.Equal(before, after) {
		t.Errorf("records or states of the first App have changed:\n%s\n\n%s", strings.Join(before, "\n"), strings.Join(after, "\n"))
	}
	first.repo.Comment("alice", n, "lockstep apply")
	settle()
	if got := first.said(n); !strings.Contains(got, "applied by") {
		t.Errorf("the first server: %s", got)
	}

	// The other server sends to the address of the first App.
	other.hub.SetWebhook(hooks[first])
	other.repo.Comment("alice", n, "lockstep plan")
	if _, err := other.hub.Deliver(t.Context()); err == nil || !strings.Contains(err.Error(), "401") {
		t.Errorf("the signature of another App: %v", err)
	}
}

// kept are the first App's records, and the files with its states.
func kept(t *testing.T, m *Machine, dir string) (out []string) {
	t.Helper()
	for _, collection := range []string{"run", "state", "ask", "pull", "lease", "effect", "served", "head", "sha", "open", "shown", "queue"} {
		all, err := m.Data.Records.ListAll(t.Context(), collection)
		if err != nil {
			t.Fatal(err)
		}
		for _, rec := range all {
			if !strings.HasPrefix(rec.Key, collection+"/~") {
				out = append(out, fmt.Sprintf("%s %s", rec.Key, rec.Value))
			}
		}
	}
	states, err := os.ReadDir(filepath.Join(dir, "states"))
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	for _, s := range states {
		if !strings.HasPrefix(s.Name(), "app-") {
			out = append(out, "state "+s.Name())
		}
	}
	return out
}
