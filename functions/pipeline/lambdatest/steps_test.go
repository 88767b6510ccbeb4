//go:build linux

package lambdatest_test

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"github.com/lockstep-iac/lockstep/functions/pipeline/awsstore"
	"github.com/lockstep-iac/lockstep/github/githubtest"
)

// stepProgram builds the program of steps, and returns its path.
func stepProgram(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "checker")
	build := exec.CommandContext(t.Context(), "go", "build", "-ldflags", "-s -w", "-o", path, "./testdata/checker")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return path
}

// TestSteps has a tool of a team's own check each plan and each apply, in the functions: it comes from the stack's toolbox.
func TestSteps(t *testing.T) {
	t.Parallel()
	path := stepProgram(t)
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(data)
	digest := hex.EncodeToString(sum[:])
	settings := fmt.Sprintf("tools = { checker = \"sha256:%s\" }\nproject \"net\" {\n  dir = \"net\"\n}\n", digest)
	for _, on := range []string{"before_plan", "before_apply"} {
		settings += fmt.Sprintf("step %q {\n  on = %[1]q\n  program = [\"checker\", \"{dir}\"]\n}\n", on)
	}
	r := newRoad(t, githubtest.Files{"net/main.tf": project(netState), "lockstep.hcl": settings})
	n := r.pull("db", githubtest.Files{"net/db.tf": "# forbidden\n" + secretThing})
	r.expect("without the tool", r.status(n), "1 to add", "the toolbox does not have the tool checker", "lockstep toolbox add checker FILE")

	box := awsstore.Tools{Client: r.stack.S3, Bucket: r.stack.Ref("Toolbox")}
	store := func() {
		f, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		if err := box.Keep(t.Context(), digest, f); err != nil {
			t.Fatal(err)
		}
	}
	store()
	r.say("alice", n, "lockstep plan")
	r.expect("a forbidden word", r.status(n), "**denied** by step `before_plan`: `the program ended with exit code 2`", "db.tf has a forbidden word")
	r.repo.Push("alice", "db", "without the word", githubtest.Files{"net/db.tf": secretThing})
	r.settle()
	r.expect("without the word", r.status(n), "ready to apply")
	if _, err := box.Client.DeleteObject(t.Context(), &s3.DeleteObjectInput{Bucket: &box.Bucket, Key: aws.String("tools/" + digest)}); err != nil {
		t.Fatal(err)
	}
	r.expect("an apply without the tool", r.say("alice", n, "lockstep apply"), "The step `before_apply` (before_apply) failed", "the toolbox does not have the tool checker")
	store()
	r.expect("the answer", r.say("alice", n, "lockstep apply"), "**Applied**")
	if strings.Contains(r.status(n), "reached") {
		t.Error(r.status(n))
	}
}
