package dispatch_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/lockstep-iac/lockstep/github/githubtest"
)

// deployed is a repository with a project in an environment of GitHub, and one in none.
func deployed() githubtest.Files {
	return githubtest.Files{
		"net/main.tf": resource("a", "1"), "app/main.tf": resource("a", "1"),
		"lockstep.hcl": "environment \"prod\" {\n  github = \"production\"\n}\nproject \"net\" {\n  dir = \"net\"\n  environment = \"prod\"\n}\nproject \"app\" {\n  dir = \"app\"\n}\n",
	}
}

// deployments are those of the repository: each environment, its last state and description.
func (s *stage) deployments() string {
	var out []string
	for _, d := range s.repo.Deployments() {
		if len(d.SHA) != 40 || len(d.States) == 0 {
			s.t.Errorf("a deployment is %+v", d)
			continue
		}
		out = append(out, fmt.Sprintf("%s %s", d.Environment, d.States[len(d.States)-1]))
	}
	return strings.Join(out, ", ")
}

// TestDeployments records each apply to an environment of GitHub, and nothing else.
func TestDeployments(t *testing.T) {
	t.Parallel()
	s := newStage(t, deployed())
	s.hub.Accepts("deployments", "write")
	want := func(what, want string) {
		t.Helper()
		if got := s.deployments(); got != want {
			t.Errorf("%s: the deployments are %q, want %q", what, got, want)
		}
	}
	n := s.pull("alice", "b", githubtest.Files{"net/b.tf": resource("b", "1"), "app/b.tf": resource("b", "1")})
	want("a plan", "")
	s.say("mallory", n, "lockstep apply")
	want("an apply that is refused", "")
	s.say("bob", n, "lockstep apply")
	want("an apply", "production success")
	s.say("bob", n, "lockstep help")
	want("nothing new", "production success")
	if d := s.repo.Deployments()[0]; d.SHA != s.repo.Head("b") || !strings.HasPrefix(d.Task, "lockstep:") || len(d.States) > 2 {
		t.Errorf("the deployment is %+v", d)
	}
	s.repo.Push("alice", "b", "Another", githubtest.Files{"net/c.tf": "resource \"terraform_data\" \"c\" {\n  lifecycle {\n    postcondition {\n      condition     = self.id == \"\"\n      error_message = \"no\"\n    }\n  }\n}\n"})
	s.settle()
	s.say("bob", n, "lockstep apply")
	want("an apply that fails", "production success, production failure")
}

// TestDeploymentsRefused holds that an apply comes to its end where the App may not record it, and that a pull request names no
// environment of GitHub of its own.
func TestDeploymentsRefused(t *testing.T) {
	t.Parallel()
	s := newStage(t, deployed())
	var logged []string
	s.pipeline.Log = func(err error) { logged = append(logged, err.Error()) }
	n := s.pull("alice", "b", githubtest.Files{"net/b.tf": resource("b", "1"), "lockstep.hcl": strings.ReplaceAll(deployed()["lockstep.hcl"], `"production"`, `"evil"`)})
	s.expect("the answer", s.say("bob", n, "lockstep apply"), "**Applied** `net`: 2 added")
	if got := s.deployments(); got != "" {
		t.Errorf("the deployments are %s", got)
	}
	if len(logged) != 1 || !strings.Contains(logged[0], "record a deployment of acme/infra to production") {
		t.Errorf("the log has %q", logged)
	}
}

// deployStory records an apply, once.
func deployStory(t *testing.T, f *faults) {
	s := newStage(t, deployed())
	s.hub.Accepts("deployments", "write")
	n := s.pull("alice", "b", githubtest.Files{"net/b.tf": resource("b", "1")})
	f.use(s)
	id := s.repo.Comment("alice", n, "lockstep apply")
	s.stubborn()
	want := "production success"
	if !strings.Contains(s.answerTo(n, id), "**Applied**") {
		want = "production failure" // see appliedOnce
	}
	if got := s.deployments(); got != want {
		t.Errorf("%v: the deployments are %s", f, got)
	}
}
