package dispatch_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/lockstep-iac/lockstep/functions/comment"
	"github.com/lockstep-iac/lockstep/functions/pipeline/jobs"
	"github.com/lockstep-iac/lockstep/github/githubtest"
)

const testedNet = "project \"net\" {\n  dir = \"net\"\n  test = true\n}\n"

// expecting is a test file whose assertion holds that the object a has a value.
func expecting(value string) string {
	return fmt.Sprintf("run \"a\" {\n  assert {\n    condition     = terraform_data.a.output == %q\n    error_message = \"@acme/sre: it is ${terraform_data.a.output}\"\n  }\n}\n", value)
}

// A testedEngine notes the jobs of tests.
type testedEngine struct {
	jobs.Engine
	mu   sync.Mutex
	jobs []jobs.Job
}

func (e *testedEngine) Test(ctx context.Context, j jobs.Job) (comment.Tests, error) {
	e.mu.Lock()
	e.jobs = append(e.jobs, j)
	e.mu.Unlock()
	return e.Engine.Test(ctx, j)
}

func (s *stage) testing() *testedEngine {
	e := &testedEngine{Engine: s.pipeline.Engine}
	s.pipeline.Engine = e
	return e
}

// tests is the newest check run of the tests at the head of a branch, with its annotations.
func (s *stage) tests(branch string) string {
	s.t.Helper()
	c := s.checkOf(branch, "lockstep/test: net")
	for _, x := range s.repo.Checks(c.SHA) {
		if x.Name == c.Name {
			c = x
		}
	}
	out := fmt.Sprintf("%s %s\n%s\n%s\n", c.Conclusion, c.Title, c.Summary, c.Text)
	for _, a := range c.Annotations {
		out += fmt.Sprintf("%s:%d %s: %s\n", a.Path, a.First, a.Title, a.Message)
	}
	return out
}

// TestTestsOfAPull is the life of a pull request whose tests fail: the failed assertion is at its line, the apply is not held by
// it, "Re-run" runs them again, and a push that mends them passes. The job of tests has no rights.
func TestTestsOfAPull(t *testing.T) {
	t.Parallel()
	s := newStage(t, githubtest.Files{"net/main.tf": resource("a", "1"), "lockstep.hcl": testedNet})
	e := s.testing()
	n := s.pull("alice", "b", githubtest.Files{"net/b.tf": resource("b", "1"), "net/tests/a.tftest.hcl": expecting("2")})
	const failed = "failure 1 of 1 run did not pass"
	s.expect("the tests", s.tests("b"), failed, "| 1 assertion failed | `a` | `tests/a.tftest.hcl` |", "net/tests/a.tftest.hcl:3 Test assertion failed: @acme/sre: it is 1", "on tests/a.tftest.hcl line 3")
	j := e.jobs[0]
	if j.Snapshot == nil || j.Snapshot.State != nil || j.State.Backend != "" || j.Grants.Provisioners || j.Environment.GitHub() != "" || j.Gates != nil || j.Policies != nil {
		t.Errorf("the job of tests: %+v", j)
	}
	s.repo.Rerequest("alice", s.checkOf("b", "lockstep/test: net").ID)
	s.settle()
	s.expect("the tests once more", s.tests("b"), failed)
	if got := s.tests("b"); len(e.jobs) != 2 || strings.Count(got, "net/tests/a.tftest.hcl:3") != 1 {
		t.Errorf("tested %d times:\n%s", len(e.jobs), got)
	}
	s.expect("an apply", s.say("alice", n, "lockstep apply"), "**Applied** `net`")
	s.repo.Push("alice", "b", "Mend", githubtest.Files{"net/tests/a.tftest.hcl": expecting("1")})
	s.settle()
	s.expect("mended", s.tests("b"), "success 1 run passed")
	if len(e.jobs) != 3 {
		t.Errorf("tested %d times", len(e.jobs))
	}
}

// TestTestsAreRequired holds that a requirement may name the check of tests, and that it is looked at once the tests are done.
func TestTestsAreRequired(t *testing.T) {
	t.Parallel()
	s := newStage(t, githubtest.Files{"net/main.tf": resource("a", "1"), "lockstep.hcl": testedNet + "require \"apply\" {\n  checks = [\"lockstep/test: *\"]\n}\n"})
	n := s.pull("alice", "b", githubtest.Files{"net/a.tftest.hcl": expecting("2"), "net/b.tf": resource("b", "1")})
	s.expect("failed tests", s.say("alice", n, "lockstep apply"), "**Not applied** `net`", "`lockstep/test: net` has failed")
	s.repo.Push("alice", "b", "Mend", githubtest.Files{"net/a.tftest.hcl": expecting("1")})
	s.settle()
	s.expect("the status", s.status(n), "ready to apply")
	s.expect("tests that pass", s.say("alice", n, "lockstep apply"), "**Applied** `net`")
}

// TestTestsOfOneHead holds that of two pull requests with one head, whose merges differ, neither turns the other's failed tests
// green, whichever is tested last; and that a closed one holds nobody up.
func TestTestsOfOneHead(t *testing.T) {
	t.Parallel()
	s := newStage(t, githubtest.Files{"net/main.tf": resource("a", "1"), "lockstep.hcl": "allow {\n  branches = [\"rel*\"]\n}\n" + testedNet})
	s.repo.Push("bob", "release", "Release", githubtest.Files{"net/main.tf": resource("a", "2")})
	one := s.pull("alice", "b", githubtest.Files{"net/a.tftest.hcl": expecting("1")})
	s.expect("alone", s.tests("b"), "success 1 run passed")
	two := s.repo.OpenPull("mallory", "Into the release", "b")
	s.repo.Retarget("mallory", two, "release")
	s.settle()
	worse := fmt.Sprintf("failed on #%d", two)
	all := func() (out []string) {
		for _, c := range s.repo.Checks(s.repo.Head("b")) {
			if c.Name == "lockstep/test: net" {
				out = append(out, fmt.Sprintf("%s %s", c.Conclusion, c.Title))
			}
		}
		return out
	}
	s.expect("beside one that fails", strings.Join(all(), "\n"), "failure 1 run passed ("+worse+")", "failure 1 of 1 run did not pass")
	s.say("alice", one, "lockstep plan")
	s.expect("tested last", s.tests("b"), "failure 1 run passed ("+worse+")")
	s.repo.Close("mallory", two)
	s.settle()
	s.say("alice", one, "lockstep plan")
	s.expect("alone again", s.tests("b"), "success 1 run passed")
}

// TestTestsOfAFork holds that the tests of a fork run once somebody has named its commit, with no more than its plan has, and that
// they are those of the base branch's settings.
func TestTestsOfAFork(t *testing.T) {
	t.Parallel()
	s := newStage(t, githubtest.Files{"net/main.tf": resource("a", "1"), "lockstep.hcl": testedNet + "allow {\n  forks = true\n  provisioners = true\n  modules = [\"github.com/acme/private\"]\n}\n"})
	e := s.testing()
	fork, n, head := s.theirs(githubtest.Files{"net/a.tftest.hcl": expecting("1")})
	if len(e.jobs) > 0 {
		t.Error("tests that nobody has asked for")
	}
	s.say("alice", n, "lockstep plan "+head)
	if len(e.jobs) != 1 || e.jobs[0].PrivateModules || e.jobs[0].Grants.Provisioners || e.jobs[0].Snapshot == nil {
		t.Fatalf("%+v", e.jobs)
	}
	found := false
	for _, c := range s.repo.Checks(fork.Head("theirs")) {
		found = found || c.Name == "lockstep/test: net" && c.Conclusion == "success"
	}
	if !found {
		t.Error("the tests have no check")
	}
}
