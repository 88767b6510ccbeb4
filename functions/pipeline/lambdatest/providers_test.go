//go:build linux

package lambdatest_test

import (
	"fmt"
	"net/url"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/google/go-cmp/cmp"
	"golang.org/x/mod/sumdb/dirhash"

	"github.com/lockstep-iac/lockstep/functions/pipeline/lambdatest"
	"github.com/lockstep-iac/lockstep/github/githubtest"
	"github.com/lockstep-iac/lockstep/statebackend/statebackendtest"
)

// lab is a real provider, which the base branch grants by its checksum, and a mirror that
// has it.
func lab(t *testing.T) (lockFile string, mirrored func(*lambdatest.StackOptions)) {
	t.Helper()
	mirror := statebackendtest.Part(t, "mirror")
	dir := filepath.Join(mirror, "registry.terraform.io", "lockstep", "lab", "1.0.0", runtime.GOOS+"_"+runtime.GOARCH)
	sum, err := dirhash.HashDir(dir, "", dirhash.Hash1)
	if err != nil {
		t.Fatal(err)
	}
	lockFile = fmt.Sprintf("provider \"registry.terraform.io/lockstep/lab\" {\n  version = \"1.0.0\"\n  hashes = [\n    %q,\n  ]\n}\n", sum)
	return lockFile, func(o *lambdatest.StackOptions) { o.Env = map[string]string{"LOCKSTEP_MIRROR": mirror} }
}

func labThing(name, more string) string {
	return "terraform {\n  required_providers {\n    lab = { source = \"lockstep/lab\" }\n  }\n}\nresource \"lab_thing\" \"" + name + "\" {\n  name = \"" + name + "\"\n" + more + "}\n"
}

// TestProviders holds that a provider which the base branch grants plans with the role to
// plan, and applies with the role to apply, and that another one is not started.
func TestProviders(t *testing.T) {
	t.Parallel()
	lock, mirrored := lab(t)
	r := newRoad(t, githubtest.Files{"net/main.tf": project(netState, thing("vpc", "1")), "net/.terraform.lock.hcl": lock}, mirrored)
	n := r.pull("thing", githubtest.Files{"net/thing.tf": labThing("a", "")})
	r.expect("the plan", r.status(n), "2 to add", "lab_thing.a")
	if d := cmp.Diff([]string{"plan"}, r.assumed(n)); d != "" {
		t.Errorf("roles when it was planned:%s", d)
	}
	r.expect("the answer", r.say("alice", n, "lockstep apply"), "2 added")
	if roles := r.assumed(n); roles[len(roles)-1] != "apply" {
		t.Errorf("roles when it was applied: %v", roles)
	}

	other := r.pull("other", githubtest.Files{"net/time.tf": "resource \"time_static\" \"t\" {\n}\n", "net/.terraform.lock.hcl": lock +
		"provider \"registry.terraform.io/hashicorp/time\" {\n  version = \"0.14.2\"\n  hashes = [\"h1:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=\"]\n}\n"})
	before := len(r.assumed(0))
	r.expect("the plan with a provider of its own", r.status(other), "Provider is not allowed", "hashicorp/time")
	if len(r.assumed(0)) != before {
		t.Error("a provider that is not allowed got credentials")
	}
}

// assumed returns the roles that were assumed for a pull request, 0 for all, in order,
// and holds that each was asked for as its trust policy wants.
func (r *road) assumed(number int) []string {
	r.t.Helper()
	var roles []string
	for _, a := range r.account.Assumed() {
		if number != 0 {
			want := map[string]string{"repository": "acme/infra", "pull": fmt.Sprint(number), "project": "net"}
			if a.Tags["actor"] != "" {
				want["actor"] = "alice" // who has written the comment
			}
			if d := cmp.Diff(want, a.Tags); d != "" || a.ExternalID != "only we know it" {
				r.t.Errorf("%s was asked for with %q and%s", a.Role, a.ExternalID, d)
			}
		}
		roles = append(roles, a.Role[strings.LastIndex(a.Role, "/")+1:])
	}
	return roles
}

// TestKilledInAChange kills the apply function while a provider creates something. It is
// told that nobody knows, and what was planned is not applied again unseen.
func TestKilledInAChange(t *testing.T) {
	t.Parallel()
	lock, mirrored := lab(t)
	r := newRoad(t, githubtest.Files{"net/main.tf": project(netState), "net/.terraform.lock.hcl": lock}, mirrored, func(o *lambdatest.StackOptions) {
		o.Timeouts = map[string]time.Duration{"apply": 20 * time.Second}
		o.Parameters["StopBefore"] = "3s"
	})
	n := r.pull("thing", githubtest.Files{"net/thing.tf": labThing("a", "  trouble = \"create-hang\"\n")})
	apply := r.stack.Functions["apply"]
	go func() {
		// The first object of the journal is of the apply, and of the change that begins. Whenever it is from
		// here on, the provider hangs.
		first := &s3.HeadObjectInput{Bucket: aws.String("states"), Key: aws.String(".lockstep/journal/" + url.PathEscape(netState) + "/00000000000000000001")}
		for t.Context().Err() == nil {
			if _, err := r.stack.S3.HeadObject(t.Context(), first); err == nil {
				apply.Kill()
				return
			}
			time.Sleep(10 * time.Millisecond)
		}
	}()
	id := r.repo.Comment("alice", n, "lockstep apply")
	r.settle()
	if r.later() == 0 {
		t.Fatal("no message came again")
	}
	// Until the end of the invocation that was killed, nobody can know that it was.
	r.expect("the answer meanwhile", r.answer(n, id), "is being applied")
	r.untilOver(n, id)
	r.expect("the answer", r.answer(n, id), "**Failed to apply**", "lab_thing.a", "Not known to be created")
	r.expect("the check", r.checks("thing"), "failure")
	r.expect("an apply again", r.say("alice", n, "lockstep apply"), "Not applied")
	r.say("alice", n, "lockstep unlock")
	r.free(netState)
	r.say("alice", n, "lockstep plan")
	r.expect("a plan afterwards", r.status(n), "1 object may exist outside the state", "lab_thing.a", "no changes")
}

// TestNoTimeLeft holds that an apply which is too near its end begins nothing, is handed
// over in vain for a while, and says what remains.
func TestNoTimeLeft(t *testing.T) {
	t.Parallel()
	r, n := twoThings(t, func(o *lambdatest.StackOptions) { o.Timeouts = map[string]time.Duration{"apply": time.Minute} })
	answer := r.say("alice", n, "lockstep apply")
	r.expect("the answer", answer, "**Failed to apply**", "0 of 2 changes done", "made no progress", "Not started: 2 changes")
	if _, names := r.serial(netState); len(names) != 0 {
		t.Errorf("the state has %v", names)
	}
	r.say("alice", n, "lockstep unlock") // or wait until the lease ends
	r.free(netState)
}
