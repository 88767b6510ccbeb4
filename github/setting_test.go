package github_test

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/lockstep-iac/lockstep/github"
	"github.com/lockstep-iac/lockstep/github/githubtest"
	"github.com/lockstep-iac/lockstep/github/githubtest/contract"
)

// setting is a GitHub with one repository, and our App's client of it. It sees every
// request, and all requests and answers are held against GitHub's own description.
type setting struct {
	hub    *githubtest.Hub
	repo   *githubtest.Repository
	app    *github.App
	client *github.Client

	mu       sync.Mutex
	requests []string
	fault    func(http.ResponseWriter, *http.Request) bool
}

// RoundTrip answers in the place of a network, so that a test can have a clock of its
// own.
func (s *setting) RoundTrip(req *http.Request) (*http.Response, error) {
	s.mu.Lock()
	s.requests = append(s.requests, req.Method+" "+req.URL.Path+" "+req.Header.Get("Authorization"))
	s.mu.Unlock()
	if req.URL.Scheme+"://"+req.URL.Host != hubURL {
		return nil, errors.New("connection refused")
	}
	if req.Body == nil {
		req.Body = http.NoBody
	}
	w := httptest.NewRecorder()
	s.hub.ServeHTTP(w, req)
	res := w.Result()
	res.Request = req
	return res, nil
}

const hubURL = "http://127.0.0.1"

// count returns how many requests had a text in their line.
func (s *setting) count(text string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := 0
	for _, r := range s.requests {
		if strings.Contains(r, text) {
			n++
		}
	}
	return n
}

func newSetting(t *testing.T) *setting {
	t.Helper()
	s := &setting{}
	s.hub = githubtest.New(githubtest.Options{Fault: func(w http.ResponseWriter, r *http.Request) bool {
		return s.fault != nil && s.fault(w, r)
	}})
	s.repo = s.hub.AddRepository("acme", "infra", githubtest.Files{"main.tf": "one\n", "net/net.tf": "net\n"})
	s.repo.Grant("alice", "write")
	s.repo.Push("alice", "topic", "Second line", githubtest.Files{"main.tf": "one\ntwo\n"})
	s.repo.OpenPull("alice", "Second line", "topic")
	s.connect(t, func(*github.AppConfig) {})
	return s
}

// connect makes the App and its client anew, in another way than usual.
func (s *setting) connect(t *testing.T, change func(*github.AppConfig)) {
	t.Helper()
	config := s.hub.App(hubURL)
	config.Transport = contract.Transport{
		Base: s, Report: func(err error) { t.Error(err) },
		Ignore: func(r *http.Request) bool { return s.fault != nil || strings.HasPrefix(r.URL.Path, "/archive/") },
	}
	change(&config)
	var err error
	if s.app, err = github.NewApp(config); err != nil {
		t.Fatal(err)
	}
	if s.client, err = s.app.Repository(s.repo.Installation(), s.repo.Repo()); err != nil {
		t.Fatal(err)
	}
}
