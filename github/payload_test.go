package github

import "testing"

// TestShaped holds that a payload of one event is none of another, whatever the header says.
func TestShaped(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		event, body string
		ok          bool
	}{
		{"pull_request", `{"pull_request":{}}`, true},
		{"pull_request", `{"pull_request":{},"review":{}}`, false},
		{"pull_request", `{}`, false},
		{"pull_request_review", `{"pull_request":{},"review":{}}`, true},
		{"pull_request_review_comment", `{"pull_request":{},"comment":{}}`, true},
		{"pull_request_review_comment", `{"issue":{},"comment":{}}`, false},
		{"issue_comment", `{"issue":{},"comment":{}}`, true},
		{"issue_comment", `{"pull_request":{},"comment":{}}`, false},
		{"check_run", `{"check_run":{}}`, true},
		{"check_run", `{"check_suite":{}}`, false},
		{"merge_group", `{"merge_group":{}}`, true},
		{"merge_group", `{"pull_request":{}}`, false},
		{"check_suite", `[]`, false},
		{"installation", `{}`, true}, // nothing tells it from others
	} {
		if err := checkShape(test.event, []byte(test.body)); (err == nil) != test.ok {
			t.Errorf("%s %s: %v", test.event, test.body, err)
		}
	}
}

// TestPullOfGroup is a table of branches.
func TestPullOfGroup(t *testing.T) {
	t.Parallel()
	sha := "0123456789abcdef0123456789abcdef01234567"
	for ref, want := range map[string]int{
		"refs/heads/gh-readonly-queue/main/pr-104-" + sha: 104, "refs/heads/gh-readonly-queue/release/1.x/pr-1-" + sha: 1,
		"refs/heads/gh-readonly-queue/pr-3-" + sha + "/pr-7-" + sha: 7, "refs/heads/gh-readonly-queue/main/pr-0-" + sha: 0,
		"refs/heads/gh-readonly-queue/main/pr-7": 0, "refs/heads/gh-readonly-queue/main/pr-7-x" + sha: 0, "gh-readonly-queue/main/pr-7-" + sha: 0,
		"refs/heads/main/pr-7-" + sha: 0, "refs/heads/gh-readonly-queue/main/pr-99999999999-" + sha: 0, "": 0,
	} {
		if got := pullOfGroup(ref); got != want {
			t.Errorf("%s: %d, want %d", ref, got, want)
		}
	}
}
