//go:build linux

package lambdatest_test

import (
	"strings"
	"testing"

	"github.com/lockstep-iac/lockstep/functions/pipeline/lambdatest"
	"github.com/lockstep-iac/lockstep/github/githubtest"
	"github.com/lockstep-iac/lockstep/statebackend/statebackendtest"
)

// TestDrift applies a file with a real provider. The file is gone with the process that made it: that is drift. The next
// round of the janitor has it found by the plan function, with the role to plan, and there is one issue about it.
func TestDrift(t *testing.T) {
	t.Parallel()
	mirror := statebackendtest.Part(t, "mirror")
	r := newRoad(t, githubtest.Files{
		"net/main.tf":  project(netState, thing("vpc", "1")),
		"lockstep.hcl": "allow {\n  providers = [\"registry.terraform.io/hashicorp/local\"]\n}\n\ndrift {\n  schedule = \"rate(1 hour)\"\n}\n",
	}, func(o *lambdatest.StackOptions) { o.Env = map[string]string{"LOCKSTEP_MIRROR": mirror} })
	r.applied("file", githubtest.Files{"net/file.tf": "resource \"local_file\" \"note\" {\n  filename = \"${path.module}/note.txt\"\n  content  = \"hello\"\n}\n"})
	before := len(r.assumed(0))
	r.round()
	all := r.repo.Issues()
	if len(all) != 1 || !all[0].Open {
		t.Fatalf("issues: %+v", all)
	}
	r.expect("the issue", all[0].Title+"\n"+all[0].Body, "Drift in net", "An object of `net` changed outside of Lockstep", "local_file.note", "comment `lockstep drift accept`")
	if roles := r.assumed(0)[before:]; len(roles) == 0 || strings.Contains(strings.Join(roles, " "), "apply") {
		t.Errorf("roles of the look: %q", roles)
	}
	r.round()
	if all := r.repo.Issues(); len(all) != 1 {
		t.Errorf("issues after another round: %+v", all)
	}
	n := all[0].Number
	r.expect("the way back", r.say("alice", n, "lockstep drift revert"), "**Planned** `net`: 1 to add")
	r.expect("the acceptance", r.say("alice", n, "lockstep drift accept"), "**Planned** `net`: no changes to objects")
	r.expect("its plan", r.status(n), "local_file.note", "To apply this plan, comment `lockstep apply`")
	r.expect("the apply", r.say("alice", n, "lockstep apply"), "**Applied** `net`")
	if all := r.repo.Issues(); len(all) != 1 || all[0].Open {
		t.Errorf("issues after the apply: %+v", all)
	}
	if state := r.state("net"); strings.Contains(state, "local_file") {
		t.Errorf("the state has what is gone: %s", state)
	}
}
