//go:build linux

package lambdatest_test

import (
	"flag"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/lockstep-iac/lockstep/functions/pipeline/lambdatest"
	"github.com/lockstep-iac/lockstep/github/githubtest"
	states3 "github.com/lockstep-iac/lockstep/statebackend/s3"
)

// long is the number of seconds that the applies take which outlast their functions.
var long = flag.Int("long", 6, "the `seconds` of applies that outlast their functions")

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
	things, each, limit, before := 6, time.Second, 9*time.Second, 3*time.Second
	if *long > things { // it is measured
		// Half of the time before the end is for the calls under way.
		things, each, limit, before = 2**long, time.Second/2, 5*time.Second, 1200*time.Millisecond
	}
	lock, mirrored := lab(t)
	r := newRoad(t, githubtest.Files{"net/main.tf": project(netState), "net/.terraform.lock.hcl": lock}, mirrored)
	r.pull("one", githubtest.Files{"net/things.tf": chain(1, 0)})
	slow := r.slowness()
	each, limit, before = slow*each, slow*limit, slow*before
	r.limit(limit, 0, before)
	n := r.pull("things", githubtest.Files{"net/things.tf": chain(things, each) + "resource \"lab_thing\" \"deaf\" {\n  name    = \"deaf\"\n  trouble = \"create-600000\"\n}\n"})
	r.expect("the plan", r.status(n), fmt.Sprintf("%d to add", things+1))
	answer := r.say("alice", n, "lockstep apply")
	r.expect("the answer", answer, fmt.Sprintf("%d added", things), "lab_thing.deaf", "Not known to be created")
	r.expect("the check", r.checks("things"), "failure")
	if _, names := r.serial(netState); len(names) != things {
		t.Errorf("the state has %v", names)
	}
	if got := len(r.stack.Functions["apply"].Invocations()); got < 2 || got > things-2 {
		t.Errorf("%d invocations", got)
	} else {
		t.Logf("%d objects, each in %s, in %d invocations of %s", things, each, got, limit)
	}
	for _, x := range r.stack.Functions["apply"].Invocations() {
		if x.Error != nil {
			t.Errorf("an invocation was killed: %v", x.Error)
		}
	}
	r.free(netState)
	r.expect("a recovery", r.say("alice", n, "lockstep recover"), "lab_thing.deaf", "**may exist without being in the state**")
}

// ending is a configuration of objects that are replaced with each generation: removed one after the
// other, each in some seconds, by a program that does not hear of a stop, and made again.
func ending(n int, generation string, seconds time.Duration) string {
	var b strings.Builder
	for i := range n {
		after := ""
		if i > 0 {
			after = fmt.Sprintf("  input = terraform_data.t%d.id\n", i-1)
		}
		fmt.Fprintf(&b, "resource \"terraform_data\" \"t%d\" {\n  triggers_replace = %q\n%s  provisioner \"local-exec\" {\n    when    = destroy\n    command = \"trap '' TERM INT HUP; sleep %d\"\n  }\n}\n", i, generation, after, seconds)
	}
	return b.String()
}

// TestKilledAtEachLimit is the story of an apply whose processes are all killed in the middle of a
// change, sooner than they were told: it ends complete, with one answer.
func TestKilledAtEachLimit(t *testing.T) {
	t.Parallel()
	n := max(*long, 10)
	r := newRoad(t, githubtest.Files{"lockstep.hcl": "allow {\n  provisioners = true\n}\n", "net/main.tf": project(netState)})
	begin := r.pull("begin", githubtest.Files{"net/things.tf": ending(n, "1", 1)})
	r.expect("the first apply", r.say("alice", begin, "lockstep apply"), fmt.Sprintf("%d added", n))
	r.repo.Merge("alice", begin)
	r.settle()
	slow := r.slowness()
	r.limit(slow*5*time.Second, slow*8*time.Second, 100*time.Millisecond)
	r.cut = true
	end := r.pull("end", githubtest.Files{"net/things.tf": ending(n, "2", slow)})
	r.expect("the plan", r.status(end), fmt.Sprintf("%d to add, 0 to change, %[1]d to destroy", n))
	before := len(r.stack.Functions["apply"].Invocations())
	id := r.repo.Comment("alice", end, "lockstep apply")
	r.settle()
	kills := func() (killed int) {
		for _, x := range r.stack.Functions["apply"].Invocations()[before:] {
			if x.Error != nil {
				killed++
			}
		}
		return killed
	}
	// All kills are in the destructions, which take time. A kill in a creation would leave it in doubt, which is another story.
	enough := max(1, n/5)
	for strings.Contains(r.answer(end, id), "is being applied") && kills() < enough {
		time.Sleep(500 * time.Millisecond)
		r.later()
	}
	r.limit(15*time.Minute, 0, 100*time.Millisecond)
	r.untilOver(end, id)
	r.expect("the answer", r.answer(end, id), fmt.Sprintf("**Applied** `net`: %d added, 0 changed, %[1]d destroyed", n))
	r.expect("the check", r.checks("end"), "success")
	killed := kills()
	if killed < enough {
		t.Errorf("%d invocations were killed", killed)
	}
	t.Logf("an apply of %d s came to its end after %d kills", n*int(slow), killed)
	if _, names := r.serial(netState); len(names) != n {
		t.Errorf("the state has %v", names)
	}
	r.free(netState)
}

// TestTerminated is the story of an apply whose process is asked to end in the middle of it, by SIGTERM: it
// begins nothing more, the creation under way comes to its end, and the next process goes on.
func TestTerminated(t *testing.T) {
	t.Parallel()
	lock, mirrored := lab(t)
	r := newRoad(t, githubtest.Files{"net/main.tf": project(netState), "net/.terraform.lock.hcl": lock}, mirrored, func(o *lambdatest.StackOptions) {
		o.Parameters["StopBefore"] = "10s"
	})
	n := r.pull("things", githubtest.Files{"net/things.tf": chain(3, 2*time.Second)})
	apply := r.stack.Functions["apply"]
	r.stack.Fault(once(func(q lambdatest.Request) bool { // the first records of the journal: the start, and the first intent
		return q.Function == "apply" && q.Action == "s3:PutObject" && strings.HasSuffix(q.Resource, states3.JournalOf(netState)+"00000000000000000001")
	}, apply.Terminate))
	answer := r.say("alice", n, "lockstep apply")
	r.expect("the answer", answer, "**Applied** `net`: 3 added")
	invocations := apply.Invocations()
	if len(invocations) < 2 {
		t.Errorf("%d invocations", len(invocations))
	}
	for _, x := range invocations {
		if x.Error != nil {
			t.Errorf("an invocation failed: %v", x.Error)
		}
	}
	if left := r.later(); left != 0 {
		t.Errorf("%d messages came again", left)
	}
	if _, names := r.serial(netState); len(names) != 3 {
		t.Errorf("the state has %v", names)
	}
	r.free(netState)
}
