package dispatch_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lockstep-iac/lockstep/github/githubtest"
)

// TestGrantsAreTheBase holds that a pull request grants itself nothing, by settings or by
// a lock file of its own: no program runs, and no provider is looked for.
func TestGrantsAreTheBase(t *testing.T) {
	t.Parallel()
	mark := filepath.Join(t.TempDir(), "ran")
	s := newStage(t, githubtest.Files{"lockstep.hcl": "project \"net\" {\n  dir = \"net\"\n}\n", "net/main.tf": resource("vpc", "v1")})
	n := s.pull("alice", "programs", githubtest.Files{
		"lockstep.hcl": generous,
		"net/run.tf":   "resource \"terraform_data\" \"run\" {\n  provisioner \"local-exec\" {\n    command = \"touch '" + mark + "'\"\n  }\n}\n",
	})
	s.expect("the status", s.status(n), "failed to plan", "Provisioners are not allowed", "on the base branch")
	s.say("alice", n, "lockstep apply")
	if _, err := os.Stat(mark); err == nil {
		t.Error("the program has run")
	}
	two := s.pull("alice", "provider", githubtest.Files{
		"net/thing.tf":            "terraform {\n  required_providers {\n    evil = {\n      source = \"evil.example/evil/evil\"\n    }\n  }\n}\nresource \"evil_thing\" \"x\" {\n}\n",
		"net/.terraform.lock.hcl": "provider \"evil.example/evil/evil\" {\n  version = \"1.0.0\"\n  hashes  = [\"h1:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=\"]\n}\n",
	})
	s.expect("the status", s.status(two), "Provider is not allowed", "The base branch does not allow the provider")
	if strings.Contains(s.status(two), "cannot be installed") {
		t.Errorf("the provider was looked for:\n%s", s.status(two))
	}
}
