package github_test

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/lockstep-iac/lockstep/github"
	"github.com/lockstep-iac/lockstep/github/githubtest"
)

// TestFailures tells what becomes of a reading and a writing call when the first n
// requests fail.
func TestFailures(t *testing.T) {
	read := func(s *setting) error {
		_, err := s.client.File(t.Context(), s.repo.Head("main"), "main.tf")
		return err
	}
	write := func(s *setting) error {
		_, err := s.client.PutCheck(t.Context(), 0, s.queued())
		return err
	}
	for name, test := range map[string]struct {
		n     int
		fail  githubtest.Failure
		call  func(*setting) error
		fails string
	}{
		"down for a moment":          {1, githubtest.Outage, read, ""},
		"writing as well":            {1, githubtest.Outage, write, ""}, // what fails is looking for the check run
		"down":                       {-1, githubtest.Outage, read, "500 Internal Server Error: Server Error"},
		"too fast":                   {1, githubtest.SecondaryLimit(1), write, ""},
		"far too fast":               {-1, githubtest.SecondaryLimit(3600), write, "rate limit is used up until"},
		"limit that ends soon":       {1, githubtest.Limited(time.Now().Add(time.Second)), read, ""},
		"limit that lasts":           {-1, githubtest.Limited(time.Now().Add(time.Hour)), read, "rate limit is used up until"},
		"limit without saying since": {-1, githubtest.SecondaryLimit(0), read, "rate limit is used up"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSetting(t)
			config := s.hub.App(s.url)
			config.MaxWait = 5 * time.Second
			app, err := github.NewApp(config)
			if err != nil {
				t.Fatal(err)
			}
			if s.client, err = app.Repository(s.repo.Installation(), s.repo.Repo()); err != nil {
				t.Fatal(err)
			}
			if err := read(s); err != nil { // gets the token
				t.Fatal(err)
			}
			s.hub.Fail(test.n, test.fail)
			err = test.call(s)
			var limited *github.RateLimitedError
			switch {
			case test.fails == "" && err != nil, test.fails != "" && (err == nil || !strings.Contains(err.Error(), test.fails)):
				t.Errorf("error: %v, want %q", err, test.fails)
			case strings.Contains(test.fails, "rate limit") && !errors.As(err, &limited):
				t.Errorf("%T is no RateLimitedError", err)
			}
		})
	}
}

// TestLastRequestOfTheHour holds that the answer to the last request of an hour does not
// keep us from making another one: GitHub says when it is one too many.
func TestLastRequestOfTheHour(t *testing.T) {
	s := newSetting(t)
	s.fault = func(w http.ResponseWriter, r *http.Request) bool {
		if strings.Contains(r.URL.Path, "/app") {
			return false
		}
		w.Header().Set("X-RateLimit-Limit", "5000")
		w.Header().Set("X-RateLimit-Remaining", "0")
		w.Header().Set("X-RateLimit-Reset", fmt.Sprint(time.Now().Add(time.Hour).Unix()))
		fmt.Fprint(w, `{"permission":"write"}`)
		return true
	}
	for range 2 {
		if p, err := s.client.Permission(t.Context(), "alice"); err != nil || p != github.WritePermission {
			t.Errorf("%s, %v", p, err)
		}
	}
}
