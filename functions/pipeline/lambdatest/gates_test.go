//go:build linux

package lambdatest_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/lockstep-iac/lockstep/functions/pipeline/lambdatest"
	"github.com/lockstep-iac/lockstep/github/githubtest"
)

// A judge is a function that gates name.
type judge struct {
	mu     sync.Mutex
	answer string // "" for a failure
	asked  []string
}

func (j *judge) says(answer string) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.answer = answer
}

func (j *judge) invoked(payload []byte) ([]byte, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.asked = append(j.asked, string(payload))
	if j.answer == "" {
		return nil, errors.New("panic in " + secretPassword)
	}
	return []byte(j.answer), nil
}

func (j *judge) requests() []string {
	j.mu.Lock()
	defer j.mu.Unlock()
	return append([]string(nil), j.asked...)
}

const secretPassword = "Tr0ub4dor-and-3"

// TestGates has a function of a team's own decide about plans, and about the same plan once more when it is applied. It gets no
// sensitive value, and a pull request neither names another function nor does without it.
func TestGates(t *testing.T) {
	t.Parallel()
	const cost, evil = "arn:aws:lambda:us-east-1:" + lambdatest.AccountID + ":function:lockstep-call-cost", "arn:aws:lambda:us-east-1:" + lambdatest.AccountID + ":function:lockstep-call-evil"
	gate := func(name, arn string) string {
		return fmt.Sprintf("gate %q {\n  function = %q\n}\nproject \"net\" {\n  dir = \"net\"\n}\n", name, arn)
	}
	r := newRoad(t, githubtest.Files{"net/main.tf": project(netState), "lockstep.hcl": gate("cost", cost)})
	judging, other := &judge{answer: `{"verdict":"deny","messages":["4000 a month, and Tr0ub4dor-and-3"]}`}, &judge{answer: `{"verdict":"allow"}`}
	r.account.AddFunction(cost, judging.invoked)
	r.account.AddFunction(evil, other.invoked)

	n := r.pull("db", githubtest.Files{"net/db.tf": secretThing, "lockstep.hcl": gate("cost", evil)})
	r.expect("the plan", r.status(n), "1 to add", "**denied** by gate `cost`", "4000 a month")
	r.expect("the answer", r.say("alice", n, "lockstep apply"), "4000 a month")
	judging.says("")
	r.say("alice", n, "lockstep plan")
	r.expect("without a verdict", r.status(n), "the function failed", "the gate did not answer")
	judging.says(`{"verdict":"allow","warnings":["dear"]}`)
	r.say("alice", n, "lockstep plan")
	judging.says(`{"verdict":"deny","messages":["the budget is spent"]}`)
	r.expect("an apply of what was allowed", r.say("alice", n, "lockstep apply"), "the budget is spent")
	judging.says(`{"verdict":"allow"}`)
	r.expect("the answer", r.say("alice", n, "lockstep apply"), "**Applied**")

	all := judging.requests()
	if len(all) < 5 || len(other.requests()) > 0 {
		t.Errorf("the gate was asked %d times, and that of the pull request %d times", len(all), len(other.requests()))
	}
	for _, request := range all {
		var got struct {
			Type string
			Data struct {
				Gate, Repository, Project, Dir, Workspace, SHA string
				Pull                                           int `json:"pull_request"`
				Plan                                           struct {
					Changes []struct{ Address string } `json:"resource_changes"`
				}
			}
		}
		if err := json.Unmarshal([]byte(request), &got); err != nil || strings.Contains(request, secretPassword) {
			t.Errorf("%v: %s", err, request)
		}
		d := got.Data
		if got.Type != "gate" || d.Gate != "cost" || d.Repository != "acme/infra" || d.Project != "net" || d.Dir != "net" || d.Workspace != "default" || len(d.SHA) != 40 || d.Pull != n || len(d.Plan.Changes) != 1 {
			t.Errorf("%s", request)
		}
	}
	for _, e := range r.hub.Edits() {
		if strings.Contains(e.Text, secretPassword) {
			t.Errorf("the password is in %s", e.Text)
		}
	}
}

// TestWebhookGates reads the keys of webhooks with the function's own role, and reaches nothing on the machine.
func TestWebhookGates(t *testing.T) {
	t.Parallel()
	r := newRoad(t, githubtest.Files{"net/main.tf": project(netState)})
	key := r.account.Keep("lockstep-call/cost", "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")
	r.repo.Push("alice", "main", "gate", githubtest.Files{"lockstep.hcl": fmt.Sprintf(
		"project \"net\" {\n  dir = \"net\"\n}\ngate \"near\" {\n  url = \"https://127.0.0.1:9/\"\n  secret = %q\n  override = [\"alice\"]\n}\n", key)})
	n := r.pull("db", githubtest.Files{"net/db.tf": secretThing})
	r.expect("the plan", r.status(n), "no connection is made to the address 127.0.0.1 here", "the gate did not answer")
	r.expect("the answer", r.say("alice", n, "lockstep apply"), "127.0.0.1")
	r.say("alice", n, "lockstep override --reason \"known\"")
	r.expect("the answer", r.say("alice", n, "lockstep apply"), "**Applied**")
}

// TestFacts has labels and commit statuses of others reach the plans that wait for them, by their webhooks alone.
func TestFacts(t *testing.T) {
	t.Parallel()
	r := newRoad(t, githubtest.Files{"net/main.tf": project(netState), "lockstep.hcl": `
project "net" {
  dir = "net"
}
require "apply" {
  labels = ["go"]
  checks = ["ci/*"]
}
`})
	n := r.pull("db", githubtest.Files{"net/db.tf": secretThing})
	r.expect("the plan", r.status(n), "these labels: `go`", "`ci/*` is missing")
	r.repo.Label("alice", n, "go")
	r.settle()
	if said := r.status(n); strings.Contains(said, "`go` is missing") {
		t.Errorf("the label did not reach the plan:\n%s", said)
	}
	r.repo.SetStatus(r.repo.Head("db"), "ci/build", "success")
	r.settle()
	// Two looks at a pull request are some seconds apart.
	for end := time.Now().Add(30 * time.Second); !strings.Contains(r.status(n), "ready to apply") && time.Now().Before(end); {
		time.Sleep(500 * time.Millisecond)
		r.later()
	}
	r.expect("with both", r.status(n), "ready to apply")
	r.expect("the answer", r.say("alice", n, "lockstep apply"), "**Applied**")
}
