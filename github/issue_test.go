package github_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/lockstep-iac/lockstep/github"
)

// TestPutIssue follows an issue of ours: made once, though its number gets lost, changed, closed and opened again. Issues
// of others with its marker are none of ours.
func TestPutIssue(t *testing.T) {
	s := newSetting(t)
	put := func(number int, title string, open bool) int {
		t.Helper()
		n, err := s.client.PutIssue(t.Context(), number, github.Issue{Marker: "<!-- mark -->", Title: title, Body: "<!-- mark -->\n" + title, Open: open})
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	told := func() string {
		var out []string
		for _, x := range s.repo.Issues() {
			state := "closed"
			if x.Open {
				state = "open"
			}
			out = append(out, x.Author+": "+x.Title+", "+state)
		}
		return strings.Join(out, "; ")
	}
	want := func(text string) {
		t.Helper()
		if got := told(); got != text {
			t.Fatalf("the issues are %q, want %q", got, text)
		}
	}
	s.repo.OpenIssue("mallory", "Mine", "<!-- mark -->\nmine")
	if n := put(0, "Nothing", false); n != 0 {
		t.Errorf("a closed issue was made: %d", n)
	}
	want("mallory: Mine, open")
	n := put(0, "One", true)
	if again := put(0, "Two", true); again != n {
		t.Errorf("%d, and then %d", n, again)
	}
	want("mallory: Mine, open; lockstep[bot]: Two, open")
	put(n, "Three", false)
	want("mallory: Mine, open; lockstep[bot]: Three, closed")
	put(n, "Four", true)
	want("mallory: Mine, open; lockstep[bot]: Four, open")
	if n := put(77, "Deleted", true); n != 0 {
		t.Errorf("an issue that is gone: %d", n)
	}
	if _, err := s.client.PutIssue(t.Context(), 0, github.Issue{Marker: "<!-- mark -->", Title: "x", Body: "<!-- mark -->" + strings.Repeat("x", github.MaxComment)}); err == nil || !strings.Contains(err.Error(), "65536 are allowed") {
		t.Errorf("a text that is too long: %v", err)
	}
	s.repo.WithoutIssues(true)
	if n := put(0, "Five", true); n != 0 {
		t.Errorf("a repository without issues: %d", n)
	}
}

// TestPutIssueElsewhere holds that a repository which another owner has by now is not taken for one without issues.
func TestPutIssueElsewhere(t *testing.T) {
	s := newSetting(t)
	s.hub.AddRepository("beta", "other", nil)
	s.repo.Transfer("alice", "beta")
	n, err := s.client.PutIssue(t.Context(), 0, github.Issue{Marker: "<!-- mark -->", Title: "One", Body: "<!-- mark -->\nOne", Open: true})
	if !errors.Is(err, github.ErrNotFound) {
		t.Errorf("%d, %v", n, err)
	}
}
