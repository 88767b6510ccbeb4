package github

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"sync"

	gh "github.com/google/go-github/v60/github"
)

// payloadMembers lists, for each event, the members of its payload that no other event has. The name of the
// event is in a header that is not signed, so the payload must fit the name.
// Source: https://docs.github.com/en/webhooks/webhook-events-and-payloads
var payloadMembers = map[string][]string{
	"pull_request": {"pull_request"}, "pull_request_review": {"pull_request", "review"}, "issue_comment": {"comment", "issue"},
	"pull_request_review_comment": {"pull_request", "comment"}, "pull_request_review_thread": {"pull_request", "thread"}, "status": {"context"},
	"check_run": {"check_run"}, "check_suite": {"check_suite"}, "merge_group": {"merge_group"},
}

// checkShape checks that a payload has the members of the event name, and no members of other events. If not,
// it returns an error. body is a valid JSON object.
func checkShape(name string, body []byte) error {
	want, known := payloadMembers[name]
	if !known {
		return nil
	}
	var has map[string]json.RawMessage
	if err := json.Unmarshal(body, &has); err != nil {
		return fmt.Errorf("the payload of the %s webhook is not readable: %w", name, err)
	}
	for _, m := range []string{"pull_request", "review", "comment", "issue", "check_run", "check_suite", "merge_group", "thread", "context"} {
		if _, is := has[m]; is != slices.Contains(want, m) {
			return fmt.Errorf("the payload is not that of a %s webhook", name)
		}
	}
	return nil
}

// checkEvent has the members that Lockstep needs from the webhooks of check runs and check suites. The other
// members are not decoded: they may contain times that go-github cannot read.
type checkEvent struct {
	Action string       `json:"action"`
	Run    checkSubject `json:"check_run"`
	Suite  checkSubject `json:"check_suite"`
	Button struct {
		Identifier string `json:"identifier"`
	} `json:"requested_action"`
	Repository   *gh.Repository   `json:"repository"`
	Installation *gh.Installation `json:"installation"`
	Sender       *gh.User         `json:"sender"`
}

// statusEvent has the members that Lockstep needs from the webhook of a commit status.
// Source: https://docs.github.com/en/webhooks/webhook-events-and-payloads#status
type statusEvent struct {
	SHA          string           `json:"sha"`
	Context      string           `json:"context"`
	Repository   *gh.Repository   `json:"repository"`
	Installation *gh.Installation `json:"installation"`
}

// A checkSubject is the check run or check suite in a webhook, with the members that Lockstep needs.
type checkSubject struct {
	Name       string `json:"name"`
	ExternalID string `json:"external_id"`
	SHA        string `json:"head_sha"`
	Pulls      []struct {
		Number int `json:"number"`
	} `json:"pull_requests"`
}

// groupEvent has the members that Lockstep needs from the webhook of a merge group. Reason is set for the
// action "destroyed".
// Source: https://docs.github.com/en/webhooks/webhook-events-and-payloads#merge_group
type groupEvent struct {
	Action string `json:"action"`
	Reason string `json:"reason"`
	Group  struct {
		HeadSHA string `json:"head_sha"`
		HeadRef string `json:"head_ref"`
	} `json:"merge_group"`
	Repository   *gh.Repository   `json:"repository"`
	Installation *gh.Installation `json:"installation"`
	Sender       *gh.User         `json:"sender"`
}

// queueBranch matches the branch of a merge group. The branch's name contains the number of the last pull
// request in the group, for which the group was made.
// Source: https://docs.github.com/en/repositories/configuring-branches-and-merges-in-your-repository/configuring-pull-request-merges/managing-a-merge-queue
var queueBranch = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^refs/heads/gh-readonly-queue/.+/pr-([1-9][0-9]{0,9})-[0-9a-f]{40,64}$`)
})

// pullOfGroup returns the number of the pull request for which a merge group was made, from the group's branch;
// 0 if the branch is not of a merge queue.
func pullOfGroup(ref string) int {
	found := queueBranch().FindStringSubmatch(ref)
	if found == nil {
		return 0
	}
	n, _ := strconv.Atoi(found[1])
	return n
}

// payloadDigest returns the SHA-256 of a JSON body without the space between its tokens, in hexadecimal.
// GitHub's API may return a body with more space than the webhook had. The digest is not the signature's
// MAC, which changes with the secret.
func payloadDigest(body []byte) string {
	var b bytes.Buffer
	if err := json.Compact(&b, body); err != nil {
		b.Reset()
		b.Write(body)
	}
	sum := sha256.Sum256(b.Bytes())
	return hex.EncodeToString(sum[:])
}

// parsePayload decodes the payload of an event into a type of this package, such as checkEvent, or of
// go-github.
func parsePayload(name string, body []byte) (any, error) {
	if name == "check_run" || name == "check_suite" {
		var c checkEvent
		return &c, json.Unmarshal(body, &c)
	}
	if name == "merge_group" {
		var g groupEvent
		return &g, json.Unmarshal(body, &g)
	}
	if name == "status" {
		var s statusEvent
		return &s, json.Unmarshal(body, &s)
	}
	return gh.ParseWebHook(name, body)
}
