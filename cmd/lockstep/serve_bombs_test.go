package main

import (
	"fmt"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/lockstep-iac/lockstep/functions/pipeline/lambdatest/bombs"
	"github.com/lockstep-iac/lockstep/github/githubtest"
)

func commanding(script string) string {
	return fmt.Sprintf("resource \"terraform_data\" \"bomb\" {\n  provisioner \"local-exec\" {\n    command = %q\n  }\n}\n", script)
}

// TestServeBombs holds that each bomb is the end of its own run, and that its pull request is
// told, while an apply goes on beside them all and ends well.
func TestServeBombs(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("limits are there on Linux only")
	}
	s := newServed(t)
	base := githubtest.Files{"lockstep.hcl": "allow {\n  provisioners = true\n}\n"}
	placed := map[string]bombs.Bomb{}
	for _, b := range bombs.All() { // a project, and a state, for each
		name := strings.ReplaceAll(b.Name, " ", "-")
		placed[name] = b
		base[name+"/main.tf"] = "terraform {\n  backend \"local\" {\n  }\n}\n"
	}
	s.repo.Push("carol", "main", "Allow", base)
	p := s.start("-run-memory", "512", "-run-cpu", "4s", "-run-disk", "128", "-run-time", "1m")
	s.repo.Push("alice", "beside", "Beside", githubtest.Files{"network/more.tf": commanding("sleep 30; echo still there")})
	beside := s.repo.OpenPull("alice", "Beside", "beside")
	s.deliver()
	s.awaitOn(beside, 30*time.Second, "1 to add")
	s.repo.Comment("alice", beside, "lockstep apply")
	s.deliver()
	s.awaitApply()
	numbers := map[string]int{}
	for name, b := range placed {
		files := githubtest.Files{}
		for path, text := range b.Files {
			files[name+"/"+path] = text
		}
		s.repo.Push("alice", name, name, files)
		numbers[name] = s.repo.OpenPull("alice", name, name)
		s.deliver()
	}
	begin := time.Now()
	for name, n := range numbers {
		if placed[name].Apply {
			s.awaitOn(n, 2*time.Minute, "1 to add")
			s.repo.Comment("alice", n, "lockstep apply")
			s.deliver()
		}
	}
	for name, n := range numbers {
		said := s.awaitOn(n, 2*time.Minute, "failed to plan", "failed to apply")
		if b := placed[name]; !b.Apply && !b.Placed(said) {
			t.Errorf("%s: the place is not named:\n%.1500s", name, said)
		}
		t.Logf("%s, after %s: %s", name, time.Since(begin).Round(time.Second), because(said))
	}
	s.awaitOn(beside, time.Minute, "**Applied** `network`: 1 added")
	p.stop(syscall.SIGTERM)
}

// because is the line of what was said that tells why.
func because(said string) string {
	for line := range strings.Lines(said) {
		if strings.Contains(line, "**Interrupted: ") || strings.Contains(line, "Error:") {
			return strings.TrimSpace(line)
		}
	}
	return said
}

// awaitOn waits until one of some texts is on a pull request, and returns all that is.
func (s *served) awaitOn(number int, limit time.Duration, parts ...string) string {
	s.T.Helper()
	said := ""
	for end := time.Now().Add(limit); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		said = ""
		for _, c := range s.repo.Comments(number) {
			said += c.Body + "\n"
		}
		for _, part := range parts {
			if strings.Contains(said, part) {
				return said
			}
		}
	}
	s.T.Fatalf("nobody says one of %q on #%d, but:\n%.2000s", parts, number, said)
	return ""
}
