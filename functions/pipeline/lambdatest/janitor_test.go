//go:build linux

package lambdatest_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/lockstep-iac/lockstep/functions/pipeline"
	"github.com/lockstep-iac/lockstep/functions/pipeline/lambdatest"
	"github.com/lockstep-iac/lockstep/github/githubtest"
)

// TestGitHubStaysDown holds that an event which nobody could handle, and of which nobody
// could be told, is made up for when GitHub is back.
func TestGitHubStaysDown(t *testing.T) {
	t.Parallel()
	r := newRoad(t, githubtest.Files{"net/main.tf": project(netState, thing("vpc", "1"))})
	r.repo.Push("alice", "subnet", "Change", githubtest.Files{"net/subnet.tf": thing("subnet", "2")})
	n := r.repo.OpenPull("alice", "Change", "subnet")
	r.hub.Fail(-1, githubtest.Outage)
	r.settle()
	// What is dead waits for GitHub, too: so this has no end of its own.
	for range pipeline.MaxReceives + 1 {
		r.later()
	}
	r.hub.Fail(0, nil)
	for range pipeline.MaxReceives {
		r.later()
	}
	dead := 0
	for line := range strings.Lines(r.log.String()) {
		if strings.Contains(line, `"function":"janitor"`) && strings.Contains(line, `"msg":"handled"`) {
			dead++
		}
	}
	if dead == 0 {
		t.Error("no dead letter came to the janitor")
	}
	r.round()
	r.expect("the status", r.status(n), "2 to add")
	said := ""
	for _, c := range r.repo.Comments(n) {
		said += c.Body
	}
	r.expect("what is said", said, "Lockstep failed", "3 attempts failed or were interrupted")
}

// round lets the janitor go round, and what follows happen.
func (r *road) round() {
	r.t.Helper()
	got, err := r.stack.Tick("JanitorTimer")
	if err != nil || got.Error != nil {
		r.t.Fatal(got.Error, err)
	}
	r.settle()
}

// TestPlanThatKills holds that a plan over which the function dies each time ends as a
// failed one, in a check and a comment.
func TestPlanThatKills(t *testing.T) {
	t.Parallel()
	r := newRoad(t, githubtest.Files{"net/main.tf": project(netState, thing("vpc", "1"))})
	plan := r.stack.Functions["plan"]
	r.stack.Fault(func(q lambdatest.Request) int {
		if q.Function == "plan" && q.Action == "s3:GetObject" && strings.HasSuffix(q.Resource, netState) {
			go plan.Kill()
			return http.StatusServiceUnavailable
		}
		return 0
	})
	n := r.pull("subnet", githubtest.Files{"net/subnet.tf": thing("subnet", "2")})
	for range pipeline.MaxReceives {
		r.later()
	}
	r.stack.Fault(nil)
	r.expect("the check", r.checks("subnet"), "completed failure")
	r.expect("the status", r.status(n), "failed to plan", "3 attempts failed or were interrupted")
	r.say("alice", n, "lockstep plan")
	r.expect("the status", r.status(n), "2 to add")
}

// TestRound holds that a webhook which never came is made up for by the janitor's round.
func TestRound(t *testing.T) {
	t.Parallel()
	r := newRoad(t, githubtest.Files{"net/main.tf": project(netState, thing("vpc", "1"))})
	r.round()
	r.hub.LoseDeliveries(1)
	n := r.pull("subnet", githubtest.Files{"net/subnet.tf": thing("subnet", "2")})
	if r.status(n) != "" {
		t.Fatal("the webhook was not lost")
	}
	r.round()
	r.expect("the status", r.status(n), "2 to add")
	lines := len(r.hub.Lines())
	r.round()
	if got := len(r.hub.Lines()); got != lines {
		t.Errorf("another round found something:\n%s", strings.Join(r.hub.Lines()[lines:], "\n"))
	}
}
