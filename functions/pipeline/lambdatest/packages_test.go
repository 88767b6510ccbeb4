//go:build linux

package lambdatest_test

import (
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/s3"

	"github.com/lockstep-iac/lockstep/engine/provider/install/registrytest"
	"github.com/lockstep-iac/lockstep/functions/pipeline/lambdatest"
	"github.com/lockstep-iac/lockstep/github/githubtest"
	"github.com/lockstep-iac/lockstep/statebackend/statebackendtest"
)

// A registered lab is the real provider in a registry, which the base branch grants by the checksums that the registry has
// signed.
type registered struct {
	*registrytest.Server
	source string
	files  githubtest.Files
}

// register publishes the provider. Its packages may have more files.
func register(t testing.TB, more map[string]string) registered {
	t.Helper()
	platform := runtime.GOOS + "_" + runtime.GOARCH
	programs, err := filepath.Glob(filepath.Join(statebackendtest.Part(t, "mirror"), "registry.terraform.io/lockstep/lab/1.0.0", platform, "terraform-provider-lab*"))
	if err != nil || len(programs) != 1 {
		t.Fatal(programs, err)
	}
	program, err := os.ReadFile(programs[0])
	if err != nil {
		t.Fatal(err)
	}
	return publish(t, "lab", program, more)
}

// publish publishes a provider of ours.
func publish(t testing.TB, name string, program []byte, more map[string]string) registered {
	t.Helper()
	s := registrytest.New(t)
	s.Add(registrytest.Release{Namespace: "lockstep", Type: name, Version: "1.0.0", Program: program, Files: more})
	source := s.Address() + "/lockstep/" + name
	var hashes string
	for _, sum := range slices.Sorted(maps.Values(s.Checksums("lockstep", name, "1.0.0"))) {
		hashes += fmt.Sprintf("    %q,\n", sum)
	}
	return registered{s, source, githubtest.Files{
		"net/main.tf":             project(netState),
		"net/.terraform.lock.hcl": fmt.Sprintf("provider %q {\n  version = \"1.0.0\"\n  hashes = [\n%s  ]\n}\n", source, hashes),
	}}
}

// deployed lets functions trust the registry's certificate.
func (g registered) deployed(o *lambdatest.StackOptions) {
	o.Env = map[string]string{"SSL_CERT_FILE": g.CAFile()}
}

// thing is a file with an object.
func (g registered) thing(name string) githubtest.Files {
	return githubtest.Files{"net/" + name + ".tf": strings.ReplaceAll(labThing(name, ""), "lockstep/lab", g.source)}
}

// downloads returns how often the registry was asked for the package.
func (g registered) downloads() int {
	return len(slices.DeleteFunc(g.Requests(), func(path string) bool { return !strings.HasSuffix(path, ".zip") }))
}

// megabytes is the size of the package's files. Real ones have up to 850 MB.
var megabytes = flag.Int("package", 12, "the megabytes of the package of TestPackagesAreKept")

// padding are files that deflate to a fourth, as programs do.
func padding(megabytes int) map[string]string {
	data := make([]byte, megabytes<<20)
	random := rand.NewChaCha8([32]byte{})
	for block := range slices.Chunk(data, 4096) {
		random.Read(block[:len(block)/4])
	}
	return map[string]string{"padding": string(data)}
}

// begun returns the time from an action on GitHub until the environment of a provider is made, just before it is
// started.
func (r *road) begun(do func()) (took time.Duration) {
	begin := time.Now()
	r.stack.Fault(func(q lambdatest.Request) int {
		if took == 0 && q.Action == "sts:AssumeRole" && strings.HasPrefix(q.Resource, "arn:aws:iam::"+lambdatest.AccountID+":role/plan") {
			took = time.Since(begin)
		}
		return 0
	})
	do()
	r.stack.Fault(nil)
	return took.Round(time.Millisecond)
}

// TestPackagesAreKept has a package downloaded once: by the function that plans, for all that come later. The function that
// applies reads it from the store. Whoever puts another package there has it downloaded once more.
func TestPackagesAreKept(t *testing.T) {
	t.Parallel()
	g := register(t, padding(*megabytes))
	r := newRoad(t, g.files, g.deployed)
	var n, b int
	cold := r.begun(func() { n = r.pull("a", g.thing("a")) })
	r.expect("the plan", r.status(n), "1 to add", "lab_thing.a")
	if got := g.downloads(); got != 1 {
		t.Errorf("%d downloads for the first plan", got)
	}
	r.expect("the answer", r.say("alice", n, "lockstep apply"), "1 added")
	if got := g.downloads(); got != 0 || r.ranges("apply") == 0 {
		t.Errorf("%d downloads for the apply, %d ranges", got, r.ranges("apply"))
	}

	// Another environment of the function, whose disk is empty.
	bucket, key := r.stack.Ref("Artifacts"), "providers/"+g.source+"/terraform-provider-lab_1.0.0_"+runtime.GOOS+"_"+runtime.GOARCH+".zip"
	r.stack.Functions["plan"].Kill()
	stored := r.begun(func() { b = r.pull("b", g.thing("b")) })
	if got := g.downloads(); got != 0 || r.ranges("plan") == 0 {
		t.Errorf("%d downloads by another environment, %d ranges", got, r.ranges("plan"))
	}

	warm := r.begun(func() { r.say("alice", b, "lockstep plan") })
	t.Logf("from the push or the comment to the provider, whose files have %d MB: downloaded %s, from the store %s, in the same environment %s", *megabytes, cold, stored, warm)

	evil := registrytest.Zip(t, registrytest.Entry{Name: "terraform-provider-lab_v1.0.0", Content: "#!/bin/sh\nexit 1\n", Mode: 0o755})
	if _, err := r.stack.S3.PutObject(t.Context(), &s3.PutObjectInput{Bucket: &bucket, Key: &key, Body: strings.NewReader(string(evil))}); err != nil {
		t.Fatal(err)
	}
	r.stack.Functions["plan"].Kill()
	c := r.pull("c", g.thing("c"))
	r.expect("the plan with another package in the store", r.status(c), "1 to add", "lab_thing.c")
	if got := g.downloads(); got != 1 {
		t.Errorf("%d downloads when the store had another package", got)
	}
	if head, err := r.stack.S3.HeadObject(t.Context(), &s3.HeadObjectInput{Bucket: &bucket, Key: &key}); err != nil || *head.ContentLength == int64(len(evil)) {
		t.Errorf("the other package is still there: %v", err)
	}
}

// ranges returns how many parts of packages a function has read.
func (r *road) ranges(function string) int {
	n := 0
	for _, q := range r.stack.Requests() {
		if q.Function == function && q.Action == "s3:GetObject" && strings.Contains(q.Resource, "/providers/") && q.Header.Get("Range") != "" {
			n++
		}
	}
	return n
}
