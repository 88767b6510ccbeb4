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

// TestHooks has a function of a team's own called at each event, by the functions' own roles, and refuse an apply.
func TestHooks(t *testing.T) {
	t.Parallel()
	const ticket = "arn:aws:lambda:us-east-1:" + lambdatest.AccountID + ":function:lockstep-call-ticket"
	r := newRoad(t, githubtest.Files{
		"net/main.tf": project(netState),
		"lockstep.hcl": fmt.Sprintf("hook \"ticket\" {\n  on = [\"before_plan\", \"after_plan\", \"before_apply\", \"after_apply\"]\n  function = %q\n}\n"+
			"project \"net\" {\n  dir = \"net\"\n}\n", ticket),
	})
	hook := &judge{answer: `{}`}
	r.account.AddFunction(ticket, hook.invoked)
	n := r.pull("db", githubtest.Files{"net/db.tf": secretThing})
	r.expect("the plan", r.status(n), "1 to add")
	hook.says(`{"verdict":"deny","messages":["CHG-7 is closed"]}`)
	r.expect("the answer", r.say("alice", n, "lockstep apply"), "**Not applied**", "denied this apply: `CHG-7 is closed`")
	hook.says(`{"messages":["CHG-7 is open"]}`)
	r.expect("the answer", r.say("alice", n, "lockstep apply"), "**Applied**", "(before_apply): `CHG-7 is open`", "(after_apply): `CHG-7 is open`")

	var events []string
	for _, request := range hook.requests() {
		var got struct {
			Data struct {
				Hook, Event, Outcome, Repository, Project, Actor, SHA string
				Pull                                                  int `json:"pull_request"`
			}
		}
		if err := json.Unmarshal([]byte(request), &got); err != nil {
			t.Errorf("%v: %s", err, request)
		}
		d := got.Data
		events = append(events, strings.TrimSpace(d.Event+" "+d.Outcome))
		if d.Hook != "ticket" || d.Repository != "acme/infra" || d.Project != "net" || d.Pull != n || len(d.SHA) != 40 || strings.HasSuffix(d.Event, "_apply") != (d.Actor == "alice") {
			t.Errorf("%s", request)
		}
	}
	if got, want := strings.Join(events, ", "), "before_plan, after_plan success, before_apply, before_apply, after_apply success"; got != want {
		t.Errorf("the events are %s", got)
	}
}
