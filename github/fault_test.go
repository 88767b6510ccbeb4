package github_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lockstep-iac/lockstep/github"
	"github.com/lockstep-iac/lockstep/github/githubtest"
)

// TestFailures tells what becomes of a reading and a writing call when the first n
// requests fail.
func TestFailures(t *testing.T) {
	read := func(ctx context.Context, s *setting) error {
		_, err := s.client.File(ctx, s.repo.Head("main"), "main.tf")
		return err
	}
	write := func(ctx context.Context, s *setting) error {
		_, err := s.client.PutCheck(ctx, 0, s.queued())
		return err
	}
	outage := func() githubtest.Failure { return githubtest.Outage }
	secondary := func(after int) func() githubtest.Failure {
		return func() githubtest.Failure { return githubtest.SecondaryLimit(after) }
	}
	limit := func(d time.Duration) func() githubtest.Failure { // from when the test begins
		return func() githubtest.Failure { return githubtest.Limited(time.Now().Add(d)) }
	}
	for name, test := range map[string]struct {
		n     int
		fail  func() githubtest.Failure
		call  func(context.Context, *setting) error
		fails string
	}{
		"down for a moment":        {3, outage, read, ""},
		"writing as well":          {1, outage, write, ""}, // what fails is looking for the check run
		"down":                     {-1, outage, read, "500 Internal Server Error: Server Error"},
		"too fast":                 {2, secondary(20), write, ""},
		"far too fast":             {-1, secondary(3600), write, "rate limit is used up until"},
		"too fast, without a time": {1, secondary(0), read, ""},
		"for good, without a time": {-1, secondary(0), read, "rate limit is used up"},
		"limit that ends soon":     {1, limit(50 * time.Second), read, ""},
		"limit that lasts":         {-1, limit(time.Hour), read, "rate limit is used up until"},
	} {
		run := func(t *testing.T) {
			s := newSetting(t)
			if err := read(t.Context(), s); err != nil { // gets the token
				t.Fatal(err)
			}
			s.hub.Fail(test.n, test.fail())
			err := test.call(t.Context(), s)
			var limited *github.RateLimitedError
			switch {
			case test.fails == "" && err != nil, test.fails != "" && (err == nil || !strings.Contains(err.Error(), test.fails)):
				t.Errorf("error: %v, want %q", err, test.fails)
			case strings.Contains(test.fails, "rate limit") && !errors.As(err, &limited):
				t.Errorf("%T is no RateLimitedError", err)
			}
		}
		t.Run(name, func(t *testing.T) { synctest.Test(t, run) })
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

// TestRateLimit holds that a limit which lasts long comes out as what it is.
func TestRateLimit(t *testing.T) {
	s := newSetting(t)
	reset := time.Now().Add(time.Hour).Truncate(time.Second)
	s.fault = func(w http.ResponseWriter, r *http.Request) bool {
		w.Header().Set("X-RateLimit-Limit", "5000")
		w.Header().Set("X-RateLimit-Remaining", "0")
		w.Header().Set("X-RateLimit-Reset", fmt.Sprint(reset.Unix()))
		w.WriteHeader(http.StatusForbidden)
		io.WriteString(w, `{"message":"API rate limit exceeded"}`)
		return true
	}
	_, err := s.client.PullRequest(t.Context(), 1)
	var limited *github.RateLimitedError
	if !errors.As(err, &limited) || !limited.Until.Equal(reset) {
		t.Errorf("error: %v", err)
	}
}
