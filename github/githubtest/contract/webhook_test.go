package contract

import (
	"compress/gzip"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
)

// TestRealWebhooks holds that the check finds nothing wrong with what GitHub has sent.
func TestRealWebhooks(t *testing.T) {
	f, err := os.Open("../../testdata/webhooks.json.gz")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	unpacked, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	var all map[string][]json.RawMessage
	if err := json.NewDecoder(unpacked).Decode(&all); err != nil {
		t.Fatal(err)
	}
	// These are older than the schemas, which ask for what they do not have.
	old := []string{
		"check_run 0", "check_run 7", "check_run 8", "check_suite 0", "installation 0", "installation_repositories 0",
		"issue_comment 0", "merge_group 0", "pull_request 0", "pull_request_review 0", "pull_request_review_comment 0",
		"pull_request_review_thread 0", "status 0",
	}
	n := 0
	for event, payloads := range all {
		for i, p := range payloads {
			n++
			name := fmt.Sprint(event, " ", i)
			err := CheckWebhook(event, p)
			if (err != nil) != slices.Contains(old, name) {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
	if n != 84 {
		t.Errorf("%d payloads", n)
	}
}

// TestWrongWebhooks holds that the check finds what is wrong.
func TestWrongWebhooks(t *testing.T) {
	for payload, want := range map[string]string{
		`{"action":"created"}`:    "missing properties",
		`{"action":"teleported"}`: "no such event",
		`[`:                       "no JSON",
		`{"action":"created","issue":{"number":"1"}}`: "/issue/number",
	} {
		if err := CheckWebhook("issue_comment", []byte(payload)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", payload, err, want)
		}
	}
}
