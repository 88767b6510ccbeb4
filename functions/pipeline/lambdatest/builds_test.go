//go:build linux

package lambdatest_test

import (
	"fmt"
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

// TestImages is the story of a project that is planned and applied in an image of a team's own: the image has the program of
// a step. A pull request that names another image changes nothing.
func TestImages(t *testing.T) {
	t.Parallel()
	const image = lambdatest.AccountID + ".dkr.ecr." + lambdatest.Region + ".amazonaws.com/lockstep-build-tools@sha256:" + "a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1"
	program := stepProgram(t)
	settings := func(image string) string {
		return fmt.Sprintf("project \"net\" {\n  dir         = \"net\"\n  environment = \"tools\"\n}\n\nenvironment \"tools\" {\n  runner = \"codebuild\"\n  image  = %q\n}\nstep \"check\" {\n  on      = \"before_plan\"\n  program = [%q, \"{dir}\"]\n}\n", image, program)
	}
	r := newRoad(t, githubtest.Files{"net/main.tf": project(netState), "lockstep.hcl": settings(image)})
	n := r.pull("db", githubtest.Files{"net/db.tf": "# forbidden\n" + secretThing, "lockstep.hcl": settings(strings.ReplaceAll(image, "a1", "b2"))})
	r.untilShown(n, "denied")
	r.expect("a forbidden word", r.status(n), "**denied** by step `check`: `the program ended with exit code 2`", "db.tf has a forbidden word")
	r.repo.Push("alice", "db", "without the word", githubtest.Files{"net/db.tf": secretThing})
	r.settle()
	r.untilShown(n, "ready to apply")
	id := r.repo.Comment("alice", n, "lockstep apply")
	r.settle()
	r.untilOver(n, id)
	r.expect("the answer", r.answer(n, id), "**Applied**")
	if got := r.stack.Images(); !slices.Equal(got, []string{image, image, image}) {
		t.Errorf("builds with the images %q", got)
	}
}
