package github_test

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/lockstep-iac/lockstep/github"
)

// TestBudget holds that a client knows what is left of GitHub's requests, by the last answer: one that says that nothing has changed costs none, and other
// kinds of requests have limits of their own.
func TestBudget(t *testing.T) {
	s := newSetting(t)
	if got := s.client.Budget(); got != (github.Budget{}) {
		t.Errorf("before the first request %+v", got)
	}
	reset := time.Date(2026, time.March, 2, 10, 0, 0, 0, time.UTC)
	answer := func(status, left int, kind string) {
		s.fault = func(w http.ResponseWriter, r *http.Request) bool {
			w.Header().Set("X-RateLimit-Limit", "5000")
			w.Header().Set("X-RateLimit-Remaining", fmt.Sprint(left))
			w.Header().Set("X-RateLimit-Reset", fmt.Sprint(reset.Unix()))
			w.Header().Set("X-RateLimit-Resource", kind)
			w.Header().Set("Content-Type", "application/json")
			w.Header().Set("ETag", `"x"`)
			w.WriteHeader(status)
			if status == http.StatusOK {
				fmt.Fprint(w, "[]")
			}
			return true
		}
		if _, err := s.client.CommentsSince(t.Context(), reset); err != nil {
			t.Error(err)
		}
	}
	if _, err := s.client.CommentsSince(t.Context(), reset); err != nil { // which gets a token, too
		t.Fatal(err)
	}
	if got := s.client.Budget(); got.Limit != 5000 || got.Left != 4999 || got.Used != 1 {
		t.Errorf("after the first request %+v", got)
	}
	answer(http.StatusOK, 700, "core")
	answer(http.StatusNotModified, 690, "core")
	answer(http.StatusOK, 9, "search")
	want := github.Budget{Limit: 5000, Left: 690, Reset: reset, Used: 2}
	if got := s.client.Budget(); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
}
