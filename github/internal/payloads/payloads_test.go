package payloads

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
		{"check_suite", `[]`, false},
		{"installation", `{}`, true}, // nothing tells it from others
	} {
		if err := Shaped(test.event, []byte(test.body)); (err == nil) != test.ok {
			t.Errorf("%s %s: %v", test.event, test.body, err)
		}
	}
}
