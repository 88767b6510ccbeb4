//go:build linux

package lambdatest_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/lockstep-iac/lockstep/functions/pipeline/lambdatest"
	"github.com/lockstep-iac/lockstep/github/githubtest"
)

// TestNotifications has a topic get each outcome, by the plan function's own role. What cannot be delivered holds nothing.
func TestNotifications(t *testing.T) {
	t.Parallel()
	topics := lambdatest.StartTopics(t, "lockstep-call-applies")
	r := newRoad(t, githubtest.Files{"net/main.tf": project(netState)}, func(o *lambdatest.StackOptions) { o.Services.SNS = topics.URL })
	slack := r.account.Keep("lockstep-call/slack", "https://127.0.0.1:9/services/hunter2")
	r.repo.Push("alice", "main", "notify", githubtest.Files{"lockstep.hcl": fmt.Sprintf(
		"project \"net\" {\n  dir = \"net\"\n}\nnotify \"topic\" {\n  on = [\"planned\", \"applied\"]\n  topic = %q\n}\nnotify \"chat\" {\n  on = [\"applied\"]\n  slack = %q\n}\n", topics.ARN, slack)})
	n := r.pull("db", githubtest.Files{"net/db.tf": secretThing})
	r.expect("the plan", r.status(n), "1 to add")
	r.expect("the answer", r.say("alice", n, "lockstep apply"), "**Applied**")
	r.settle()
	var outcomes []string
	for _, message := range topics.Received() {
		var got struct {
			Type string
			Data struct {
				Notification, Repository, URL string
				Outcomes                      []struct{ Outcome, Project, Actor string }
			}
		}
		if err := json.Unmarshal([]byte(message), &got); err != nil || got.Type != "notification" || got.Data.Repository != "acme/infra" || !strings.Contains(got.Data.URL, "/pull/") {
			t.Errorf("%v: %s", err, message)
		}
		for _, o := range got.Data.Outcomes {
			outcomes = append(outcomes, strings.TrimSpace(o.Project+" "+o.Outcome+" "+o.Actor))
		}
	}
	if got := strings.Join(outcomes, ", "); got != "net planned, net applied alice" {
		t.Errorf("the topic got %s", got)
	}
}
