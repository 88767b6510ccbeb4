//go:build linux

package lambdatest_test

import (
	"strings"
	"testing"

	"github.com/lockstep-iac/lockstep/github/githubtest"
)

// TestTarballs holds that plans of all processes fetch a commit once, and that an apply has its files from GitHub: it
// applies what was planned, whatever plans have kept.
func TestTarballs(t *testing.T) {
	t.Parallel()
	a := &asks{kinds: map[string]int{}}
	r := newRoadTo(t, a.over, githubtest.Files{"lockstep.hcl": "project \"net\" {\n  dir = \"net\"\n}\n", "net/main.tf": project("net/terraform.tfstate")})
	n := r.pull("one", githubtest.Files{"net/a.tf": thing("a", "1")})
	if got := a.sum("GET tarball/"); got != 2 { // of the merge and of the base
		t.Errorf("%d archives for the first plan", got)
	}
	kept := 0
	for _, key := range r.artifacts() {
		if strings.HasPrefix(key, "tarballs/") {
			kept++
		}
	}
	if kept != 2 {
		t.Errorf("%d archives are kept: %q", kept, r.artifacts())
	}
	r.stack.Functions["plan"].Kill()
	r.say("alice", n, "lockstep plan")
	if got := a.sum("GET tarball/"); got != 2 {
		t.Errorf("%d archives for the plan of another process", got)
	}
	before := a.sum("GET tarball/")
	r.expect("the answer", r.say("alice", n, "lockstep apply"), "1 added")
	if a.sum("GET tarball/") == before {
		t.Error("the apply took the files that plans have kept")
	}
}
