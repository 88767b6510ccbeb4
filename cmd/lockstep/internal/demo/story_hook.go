package demo

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"

	"github.com/lockstep-iac/lockstep/functions/pipeline/callouts"
	"github.com/lockstep-iac/lockstep/github/githubtest"
)

// A changeDesk replaces a team's own program for change management. It opens a change for each apply, refuses
// the apply until somebody has agreed to the change, and closes it afterwards.
type changeDesk struct {
	mu     sync.Mutex
	agreed bool
}

// deskName is the program's name in lockstep.hcl.
const deskName = "change-desk"

// caller returns the Caller that runs the change desk as a team's own program.
func (d *changeDesk) caller() *callouts.Caller { return &callouts.Caller{Program: d.run} }

func (d *changeDesk) run(_ context.Context, name string, input []byte) ([]byte, error) {
	var in struct {
		Data struct{ Event, Project, Outcome string }
	}
	if err := json.Unmarshal(input, &in); err != nil || name != deskName {
		return nil, fmt.Errorf("the program %s: %w", name, err)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	answer := map[string]any{"messages": []string{"CHG-7 is open"}}
	switch {
	case in.Data.Event == "after_apply":
		answer["messages"] = []string{"CHG-7 is closed: " + in.Data.Outcome}
	case !d.agreed:
		answer = map[string]any{"verdict": "deny", "messages": []string{"nobody has agreed to CHG-7, the change of " + in.Data.Project}}
	}
	return json.Marshal(answer)
}

var deployments = Story{
	Name:  "deployments",
	Shows: "A GitHub environment requires a reviewer, and lists the deployments.",
	scenes: []scene{
		accepts("deployments", "write"), accepts("actions", "read"),
		{title: "GitHub's environment has a rule: carol reviews what is deployed", do: by(func(r *githubtest.Repository) {
			r.SetEnvironment("production", githubtest.Environment{Reviewers: []string{"carol"}})
		})},
		{title: "main has an environment for the network, which is one of GitHub's", do: by(func(r *githubtest.Repository) {
			r.Push("carol", "main", "An environment", githubtest.Files{"lockstep.hcl": edit(baseFiles["lockstep.hcl"], "project \"network\" {\n", "environment \"live\" {\n  github = \"production\"\n}\n\nproject \"network\" {\n  environment = \"live\"\n")})
		})},
		opened("alice opens a pull request", "alice", "more", "One more subnet", more, "an approval of the planned commit by `carol`"),
		commented("she cannot apply it yet", "alice", 1, "lockstep apply", "an approval of the planned commit by `carol`"),
		approved("carol approves it", "carol", 1),
		commented("alice applies it", "alice", 1, "lockstep apply", "**Applied** `network`: 2 added", "deployment production: success, network: applied – 2 added"),
		merged("and merges", "alice", 1),
		opened("bob adds a host with a wrong address", "bob", "hosts", "A host", githubtest.Files{"network/hosts.tf": hostsFile("10.21.0.9")}, "2 to add"),
		commented("carol, a reviewer, applies it", "carol", 2, "lockstep apply", "**Failed to apply** `network`", "deployment production: failure, network: failed to apply"),
	},
}

var hooks = Story{
	Name:  "hooks",
	Shows: "A team's own program runs before and after each apply, and can refuse it.",
	scenes: []scene{
		{title: "main has a hook that keeps the book of changes", do: by(func(r *githubtest.Repository) {
			r.Push("carol", "main", "A hook", githubtest.Files{"lockstep.hcl": baseFiles["lockstep.hcl"] +
				"\nhook \"changes\" {\n  on      = [\"before_apply\", \"after_apply\"]\n  program = \"" + deskName + "\"\n}\n"})
		})},
		opened("alice opens a pull request", "alice", "more", "One more subnet", more, "ready to apply"),
		commented("she applies it at once", "alice", 1, "lockstep apply", "**Not applied** `network`", "The hook `changes` denied this apply: `nobody has agreed to CHG-7, the change of network`"),
		{title: "the board agrees to the change", do: func(_ context.Context, w *World) error {
			w.desk.mu.Lock()
			defer w.desk.mu.Unlock()
			w.desk.agreed = true
			return nil
		}},
		commented("and alice applies it", "alice", 1, "lockstep apply", "**Applied** `network`: 2 added", "(before_apply): `CHG-7 is open`", "(after_apply): `CHG-7 is closed: success`"),
	},
}
