package github_test

import (
	"errors"
	"fmt"
	"net/http"
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

// TestIssueAsPull reads issues in the form of pull requests: open, closed and edited ones, but none that was deleted or
// transferred, and no pull request.
func TestIssueAsPull(t *testing.T) {
	s := newSetting(t)
	n := s.repo.OpenIssue("alice", "Drift", "text")
	tip, err := s.client.Tip(t.Context(), "main")
	if err != nil {
		t.Fatal(err)
	}
	p, err := s.client.IssueAsPull(t.Context(), n)
	if err != nil || p.Issue != github.IssueOpen || !p.Merged || p.Open || p.Fork() || p.Author != "" || p.Head.SHA != tip || p.Base.SHA != tip || p.MergeSHA != tip || p.DefaultBranch != "main" || p.URL == "" || p.MergedAt.IsZero() {
		t.Errorf("%+v, %v", p, err)
	}
	s.repo.CloseIssue(n)
	if p, err = s.client.IssueAsPull(t.Context(), n); err != nil || p.Issue != github.IssueClosed || !p.Merged {
		t.Errorf("closed: %+v, %v", p, err)
	}
	if err := s.client.ConfirmIssue(t.Context(), n); err != nil {
		t.Errorf("confirm: %v", err)
	}
	s.fault = func(w http.ResponseWriter, r *http.Request) bool {
		if strings.HasSuffix(r.URL.Path, fmt.Sprintf("/issues/%d", n)) {
			http.Redirect(w, r, fmt.Sprintf("/repositories/77/issues/%d", n), http.StatusMovedPermanently)
			return true
		}
		if strings.HasPrefix(r.URL.Path, "/repositories/77/") {
			fmt.Fprintf(w, `{"number": %d, "state": "open"}`, n)
			return true
		}
		return false
	}
	if p, err = s.client.IssueAsPull(t.Context(), n); !errors.Is(err, github.ErrNotFound) {
		t.Errorf("transferred: %+v, %v", p, err)
	}
	if k, err := s.client.PutIssue(t.Context(), n, github.Issue{Marker: "<!-- mark -->", Title: "x", Body: "<!-- mark -->"}); err != nil || k != 0 {
		t.Errorf("transferred: it is written as %d, %v", k, err)
	}
	s.fault = nil
	s.repo.DeleteIssue(n)
	for _, number := range []int{n, n + 7} {
		if p, err = s.client.IssueAsPull(t.Context(), number); !errors.Is(err, github.ErrNotFound) {
			t.Errorf("%d: %+v, %v", number, p, err)
		}
	}
	if k, err := s.client.PutIssue(t.Context(), n, github.Issue{Marker: "<!-- mark -->", Title: "x", Body: "<!-- mark -->"}); err != nil || k != 0 {
		t.Errorf("deleted: it is written as %d, %v", k, err)
	}
}
