package github_test

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lockstep-iac/lockstep/github"
	"github.com/lockstep-iac/lockstep/github/githubtest"
)

// TestInTeam tells members from others, and both from a team that cannot be seen.
func TestInTeam(t *testing.T) {
	s := newSetting(t)
	s.hub.SetTeam("acme", "sre", "alice")
	for login, want := range map[string]bool{"alice": true, "Alice": true, "bob": false} {
		if is, err := s.client.InTeam(t.Context(), "acme", "sre", login); err != nil || is != want {
			t.Errorf("%s: %v, %v", login, is, err)
		}
	}
	for _, team := range []string{"gone", "../../x"} {
		if is, err := s.client.InTeam(t.Context(), "acme", team, "alice"); is || !errors.As(err, new(*github.FinalError)) {
			t.Errorf("%s: %v, %v", team, is, err)
		}
	}
	s.hub.SetTeam("other", "sre", "alice")
	if is, err := s.client.InTeam(t.Context(), "other", "sre", "alice"); is || err == nil {
		t.Errorf("a team of an organization that the App is not installed in: %v, %v", is, err)
	}
}

// TestUnknownOwners tells owners that there are not, and that may not write, from others.
func TestUnknownOwners(t *testing.T) {
	s := newSetting(t)
	if got, err := s.client.UnknownOwners(t.Context(), s.repo.Head("main")); err != nil || got != nil {
		t.Errorf("without a file: %s, %v", got, err)
	}
	s.hub.SetTeam("acme", "sre", "alice")
	s.repo.Grant("bob", "write")
	s.repo.Push("alice", "main", "Owners", githubtest.Files{"docs/CODEOWNERS": "# @nobody\n* @bob @acme/sre\n/a/ @gone @acme/ser a@example.org # @nobody\n/b/ @mallory\n/c/ @gone\n"})
	got, err := s.client.UnknownOwners(t.Context(), s.repo.Head("main"))
	if diff := cmp.Diff([]string{"acme/ser", "gone", "mallory"}, got); diff != "" || err != nil {
		t.Error(diff, err)
	}
	if got, err := s.client.UnknownOwners(t.Context(), "main"); err == nil {
		t.Errorf("of no commit: %s", got)
	}
}

func TestLabelEvents(t *testing.T) {
	s := newSetting(t)
	s.repo.Label("alice", 1, "ready")
	for range 60 {
		s.repo.Unlabel("bob", 1, "ready")
		s.repo.Label("mallory", 1, "ready")
	}
	got, err := s.client.LabelEvents(t.Context(), 1)
	if err != nil || len(got) != 121 {
		t.Fatal(len(got), err)
	}
	want := []github.LabelEvent{{Label: "ready", Actor: "alice", Added: true}, {Label: "ready", Actor: "bob", Added: false}, {Label: "ready", Actor: "mallory", Added: true}}
	if diff := cmp.Diff(want, got[:3]); diff != "" {
		t.Error(diff)
	}
	if p, err := s.client.PullRequest(t.Context(), 1); err != nil || !cmp.Equal(p.Labels, []string{"ready"}) {
		t.Error(p.Labels, err)
	}
}

func TestContributors(t *testing.T) {
	s := newSetting(t)
	s.repo.Push("bob", "topic", "More", githubtest.Files{"main.tf": "one\ntwo\nthree\n"})
	got, err := s.client.Contributors(t.Context(), 1)
	if diff := cmp.Diff([]string{"alice", "bob"}, got.Logins); diff != "" || !got.All || err != nil || len(got.Commits) != 2 || len(got.Unlinked) != 0 {
		t.Error(diff, got, err)
	}
	one := s.repo.PushAs("mallory", "nobody@invalid", "web-flow", "topic", "Odd", githubtest.Files{"main.tf": "four\n"})
	two := s.repo.PushAs("mallory", "alice", "nobody@invalid", "topic", "Odd", githubtest.Files{"main.tf": "five\n"})
	s.repo.Push("web-flow", "other", "A person", githubtest.Files{"x": "1"})
	three := s.repo.PushAs("mallory", "web-flow", "web-flow", "topic", "Odd", githubtest.Files{"main.tf": "six\n"})
	s.repo.PushAs("mallory", "bob", "web-flow", "topic", "Fix\n\nCo-authored-by: Cat <17+cat@users.noreply.github.com>\nco-authored-by: D <d@example.org>", githubtest.Files{"main.tf": "7\n"})
	got, err = s.client.Contributors(t.Context(), 1)
	if diff := cmp.Diff([]string{"alice", "bob", "cat"}, got.Logins); diff != "" || err != nil || !cmp.Equal(got.Unlinked, []string{one, two, three}) {
		t.Error(diff, got, err)
	}
	for i := range github.MaxCommits {
		s.repo.Push("bob", "topic", "More", githubtest.Files{"main.tf": fmt.Sprint(i)})
	}
	if got, err = s.client.Contributors(t.Context(), 1); got.All || err != nil {
		t.Error("so many commits that GitHub lists no more:", got.All, err)
	}
}

// TestPushes reads who has pushed to a branch, whatever the commits say.
func TestPushes(t *testing.T) {
	s := newSetting(t)
	first := s.repo.Head("topic")
	s.repo.PushAs("mallory", "alice", "", "topic", "More", githubtest.Files{"main.tf": "1"})
	s.repo.Push("bob", "topic-2", "Another branch", githubtest.Files{"main.tf": "2"})
	got, err := s.client.Pushes(t.Context(), "topic")
	want := []github.Push{{By: "mallory", Before: first, After: s.repo.Head("topic")}, {By: "alice", Before: strings.Repeat("0", 40), After: first}}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Error(diff, err)
	}
}

func TestBehind(t *testing.T) {
	s := newSetting(t)
	is := func() bool {
		t.Helper()
		behind, err := s.client.Behind(t.Context(), s.repo.Head("topic"), s.repo.Head("main"))
		if err != nil {
			t.Fatal(err)
		}
		return behind
	}
	if is() {
		t.Error("the branch has everything")
	}
	s.repo.Push("bob", "main", "Other", githubtest.Files{"other.tf": "x"})
	if !is() {
		t.Error("the branch lacks a commit")
	}
}

// TestReports reads check runs and statuses, the latest of each, with the App that made them.
func TestReports(t *testing.T) {
	s := newSetting(t)
	head := s.repo.Head("topic")
	done := func(name string, c github.Conclusion) github.Check {
		return github.Check{Name: name, SHA: head, ExternalID: "x", Status: github.CheckCompleted, Conclusion: c, Title: "t", Summary: "s"}
	}
	s.repo.AddCheck("ci", done("lockstep", github.ConcludedSuccess))
	s.repo.AddCheck("ci", done("test", github.ConcludedFailure))
	s.repo.AddCheck("ci", done("test", github.ConcludedNeutral))
	s.repo.AddCheck("ci", github.Check{Name: "slow", SHA: head, Status: github.CheckInProgress})
	if _, err := s.client.PutCheck(t.Context(), 0, done("lockstep", github.ConcludedFailure)); err != nil {
		t.Fatal(err)
	}
	for _, state := range []string{"failure", "success"} {
		s.repo.SetStatus(head, "old", state)
	}
	s.repo.SetStatus(head, "deploy", "pending")
	got, err := s.client.Reports(t.Context(), head)
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	for _, r := range got {
		lines = append(lines, fmt.Sprintf("%s by %q ours %t done %t passed %t", r.Name, r.App, r.Ours, r.Done, r.Passed))
	}
	want := []string{
		`lockstep by "lockstep" ours true done true passed false`,
		`slow by "ci" ours false done false passed false`,
		`test by "ci" ours false done true passed true`,
		`lockstep by "ci" ours false done true passed true`,
		`old by "" ours false done true passed true`,
		`deploy by "" ours false done false passed false`,
	}
	if diff := cmp.Diff(want, lines); diff != "" {
		t.Error(diff)
	}
}

// TestRequiredReports reads what the protection and the rulesets of a branch want, beside rules that
// nobody knows here.
func TestRequiredReports(t *testing.T) {
	s := newSetting(t)
	if got, err := s.client.RequiredReports(t.Context(), "main"); err != nil || len(got.Reports)+len(got.Others) > 0 {
		t.Error(got, err)
	}
	s.repo.Protect("blocked", []githubtest.Required{{Name: "ci"}, {Name: "lockstep", App: 4711}}, []githubtest.Required{{Name: "build", App: 7}, {Name: "lint"}})
	got, err := s.client.RequiredReports(t.Context(), "main")
	want := github.Rules{Reports: []github.RequiredReport{{Name: "ci"}, {Name: "lockstep", Own: true}, {Name: "build", AppID: 7}, {Name: "lint"}}, Others: []string{"required_signatures"}, Resolved: true}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Error(diff, err)
	}
	if p, err := s.client.PullRequest(t.Context(), 1); err != nil || p.MergeState != "blocked" {
		t.Error(p.MergeState, err)
	}
}

// TestDiscussion counts open conversations over several pages, and sees that a review is missing. A query
// only reads, so it is sent again after an outage.
func TestDiscussion(t *testing.T) {
	s := newSetting(t)
	is := func(open int, missing bool) {
		t.Helper()
		got, err := s.client.Discussion(t.Context(), 1)
		if want := (github.Discussion{Open: open, ReviewMissing: missing}); err != nil || got != want {
			t.Errorf("%+v, %v", got, err)
		}
	}
	is(0, false)
	for range 5 {
		s.repo.Discuss("bob", 1)
	}
	s.repo.Resolve("bob", 1, 3)
	is(4, false)
	s.repo.RequireReview()
	is(4, true)
	s.repo.Review("bob", 1, github.ChangesRequested, "")
	is(4, true)
	s.repo.Review("bob", 1, github.Approved, "")
	failures := 1
	s.fault = func(w http.ResponseWriter, r *http.Request) bool {
		if failures--; failures < 0 || !strings.Contains(r.URL.Path, "graphql") {
			return false
		}
		w.WriteHeader(http.StatusBadGateway)
		return true
	}
	is(4, false)
	s.fault = nil
	if _, err := s.client.Discussion(t.Context(), 99); !errors.Is(err, github.ErrNotFound) {
		t.Error("a pull request that does not exist:", err)
	}
	s.fault = func(w http.ResponseWriter, r *http.Request) bool {
		if !strings.Contains(r.URL.Path, "graphql") {
			return false
		}
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprint(w, `{"data":{"repository":null},"errors":[{"type":"FORBIDDEN","message":"Resource not accessible by integration"}]}`)
		return true
	}
	if _, err := s.client.Discussion(t.Context(), 1); !errors.As(err, new(*github.FinalError)) {
		t.Error("a missing permission:", err)
	}
}

// TestQueueOfAnApp holds that an App in a merge queue has its login as everywhere else: GraphQL leaves out the end that no
// user's login has.
func TestQueueOfAnApp(t *testing.T) {
	t.Parallel()
	for _, who := range []string{"bob", "bob[bot]"} {
		s := newSetting(t)
		at := s.repo.Enqueue(who, 1)
		got, err := s.client.Queue(t.Context(), 1)
		if err != nil || len(got) != 1 || got[0].At.IsZero() {
			t.Fatal(got, err)
		}
		if diff := cmp.Diff(github.Queued{Number: 1, SHA: at, By: who, At: got[0].At}, got[0]); diff != "" {
			t.Error(diff)
		}
	}
}
