//go:build linux

package lambdatest_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lockstep-iac/lockstep/functions/pipeline/lambdatest"
	"github.com/lockstep-iac/lockstep/github/githubtest"
	states3 "github.com/lockstep-iac/lockstep/statebackend/s3"
)

// slow is a lockstep.hcl whose project is applied in builds.
const slow = "project \"net\" {\n  dir         = \"net\"\n  environment = \"slow\"\n}\n\nenvironment \"slow\" {\n  runner = \"codebuild\"\n}\n"

// TestBuilds is the story of an apply in a build: it takes longer than the function may, in one process, and is told once.
// The first build dies in the middle of a change, and the second goes on.
func TestBuilds(t *testing.T) {
	t.Parallel()
	lock, mirrored := lab(t)
	r := newRoad(t, githubtest.Files{"net/main.tf": project(netState), "net/.terraform.lock.hcl": lock, "lockstep.hcl": slow}, mirrored, func(o *lambdatest.StackOptions) {
		o.Timeouts = map[string]time.Duration{"apply": 9 * time.Second}
		o.Parameters["StopBefore"] = "3s"
	})
	n := r.pull("things", githubtest.Files{"net/things.tf": chain(6, 2*time.Second)})
	r.expect("the plan", r.status(n), "6 to add")
	r.stack.Fault(once(func(q lambdatest.Request) bool { // the third records of the journal: the second intent
		return q.Function == "build" && q.Action == "s3:PutObject" && strings.HasSuffix(q.Resource, states3.JournalOf(netState)+"00000000000000000003")
	}, r.stack.KillBuilds))
	id := r.repo.Comment("alice", n, "lockstep apply")
	r.settle()
	r.untilOver(n, id)
	r.expect("the answer", r.answer(n, id), "**Applied** `net`: 6 added")
	r.expect("the check", r.checks("things"), "success")
	if got, want := r.stack.Builds(), []string{"FAULT", "SUCCEEDED"}; !slices.Equal(got, want) {
		t.Errorf("the builds: %q, want %q", got, want)
	}
	if _, names := r.serial(netState); len(names) != 6 {
		t.Errorf("the state has %v", names)
	}
	for _, x := range r.stack.Functions["apply"].Invocations() {
		if x.Error != nil {
			t.Errorf("an invocation was killed: %v", x.Error)
		}
	}
	r.free(netState)
}
