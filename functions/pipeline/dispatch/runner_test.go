package dispatch_test

import (
	"testing"

	"github.com/lockstep-iac/lockstep/github/githubtest"
)

// onRunner are files with an environment, whose body is the text.
func onRunner(body string) githubtest.Files {
	return githubtest.Files{
		"net/main.tf":  resource("a", "1"),
		"lockstep.hcl": "project \"net\" {\n  dir         = \"net\"\n  environment = \"slow\"\n}\n\nenvironment \"slow\" {\n" + body + "}\n",
	}
}

const codebuild = "  runner = \"codebuild\"\n"

// TestRunnerThatIsNotHere holds that a runner which the deployment does not have is refused with its line, in comment and
// check, before anything is planned; and that only the base branch names one.
func TestRunnerThatIsNotHere(t *testing.T) {
	t.Parallel()
	s := newStage(t, onRunner(codebuild))
	n := s.pull("alice", "b", githubtest.Files{"net/b.tf": resource("b", "1")})
	const want = "the environment \"slow\" has runner = \"codebuild\" (lockstep.hcl:7 on the base branch), and this deployment of Lockstep has no such runner: remove the line"
	s.expect("the status", s.status(n), want)
	s.expect("the check", s.check("b"), "failure")

	s = newStage(t, onRunner(""))
	n = s.pull("alice", "b", githubtest.Files{"lockstep.hcl": onRunner(codebuild)["lockstep.hcl"], "net/b.tf": resource("b", "1")})
	s.expect("named by a pull request", s.say("alice", n, "lockstep apply"), "**Applied** `net`")
}
