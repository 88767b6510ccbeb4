//go:build linux

package lambdatest_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/lockstep-iac/lockstep/functions/pipeline/lambdatest"
	"github.com/lockstep-iac/lockstep/github/githubtest"
)

// chain is a configuration of things that are made one after the other, each in some time.
func chain(n int, each time.Duration) string {
	var b strings.Builder
	b.WriteString(labThing("t0", fmt.Sprintf("  trouble = \"create-%d\"\n", each.Milliseconds())))
	for i := 1; i < n; i++ {
		fmt.Fprintf(&b, "resource \"lab_thing\" \"t%d\" {\n  name    = \"t%[1]d-${lab_thing.t%d.id}\"\n  trouble = \"create-%d\"\n}\n", i, i-1, each.Milliseconds())
	}
	return b.String()
}

// TestLongApply is the story of an apply that takes longer than several invocations of its function,
// with one creation that takes longer than all of them and never answers: one answer, one check,
// and everything made once but for that one, of which people are told.
func TestLongApply(t *testing.T) {
	t.Parallel()
	lock, mirrored := lab(t)
	r := newRoad(t, githubtest.Files{"net/main.tf": project(netState), "net/.terraform.lock.hcl": lock}, mirrored, func(o *lambdatest.StackOptions) {
		o.Timeouts = map[string]time.Duration{"apply": 9 * time.Second}
		o.Parameters["StopBefore"] = "3s"
	})
	n := r.pull("things", githubtest.Files{"net/things.tf": chain(6, time.Second) + "resource \"lab_thing\" \"deaf\" {\n  name    = \"deaf\"\n  trouble = \"create-600000\"\n}\n"})
	r.expect("the plan", r.status(n), "7 to add")
	answer := r.say("alice", n, "lockstep apply")
	r.expect("the answer", answer, "6 added", "lab_thing.deaf", "Not known to be created")
	r.expect("the check", r.checks("things"), "failure")
	if _, names := r.serial(netState); len(names) != 6 {
		t.Errorf("the state has %v", names)
	}
	if got := len(r.stack.Functions["apply"].Invocations()); got < 2 || got > 4 {
		t.Errorf("%d invocations", got)
	}
	for _, x := range r.stack.Functions["apply"].Invocations() {
		if x.Error != nil {
			t.Errorf("an invocation was killed: %v", x.Error)
		}
	}
	r.free(netState)
	r.expect("a recovery", r.say("alice", n, "lockstep recover"), "lab_thing.deaf", "**may exist, and no state knows it**")
}
