package dispatch_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/lockstep-iac/lockstep/github/githubtest"
)

// annotations are the annotations of the newest check run of a project at the head of a branch.
func (s *stage) annotations(branch, project string) string {
	s.t.Helper()
	out := ""
	for _, a := range s.checkOf(branch, "lockstep/"+project).Annotations {
		out += fmt.Sprintf("%s %s:%d-%d %s\n", a.Level, a.Path, a.First, a.Last, strings.ReplaceAll(a.Message, "\n", " / "))
	}
	return out
}

// TestAnnotations holds that the check of a plan points to the lines of the pull request that cause the changes. A
// second plan adds nothing, and a failed one points to its error.
func TestAnnotations(t *testing.T) {
	t.Parallel()
	lines := strings.Repeat("# a line\n", 10)
	file := lines + "locals {\n  size = \"s\"\n}\n" + lines
	s := newStage(t, githubtest.Files{"net/main.tf": file})
	first := s.pull("alice", "a", githubtest.Files{"net/a.tf": "resource \"terraform_data\" \"a\" {\n  input = local.size\n}\n"})
	s.expect("a new block", s.annotations("a", "net"), "notice net/a.tf:1-1 creates terraform_data.a\n")
	s.expect("the apply", s.say("alice", first, "lockstep apply"), "**Applied** `net`")
	s.repo.Merge("alice", first)
	s.settle()
	s.repo.Push("alice", "b", "Larger", githubtest.Files{"net/main.tf": strings.Replace(file, `"s"`, `"l"`, 1)})
	n := s.repo.OpenPull("alice", "Larger", "b")
	s.settle()
	const want = "notice net/main.tf:12-12 updates terraform_data.a: input \"s\" -> \"l\" (local.size)\n"
	for range 2 {
		if got := s.annotations("b", "net"); got != want {
			t.Errorf("%s, want %s", got, want)
		}
		s.say("alice", n, "lockstep plan")
	}
	s.repo.Push("alice", "b", "Wrong", githubtest.Files{"net/main.tf": strings.Replace(file, `"s"`, `local.none`, 1)})
	s.settle()
	s.expect("an error", s.annotations("b", "net"), "failure net/main.tf:12-12 A local value with the name \"none\" has not been declared.")
}
