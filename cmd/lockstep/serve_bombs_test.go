package main

import (
	"fmt"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/lockstep-iac/lockstep/github/githubtest"
)

// A bomb is a pull request that takes all there is of something: files to add to a project.
type bomb struct {
	files githubtest.Files
	apply bool // it goes off when it is applied
}

// doubling is a chain of locals, each of which has the one before twice.
func doubling(first, each string, n int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "locals {\n  l0 = %s\n", first)
	for i := range n {
		fmt.Fprintf(&b, "  l%d = %s\n", i+1, strings.ReplaceAll(each, "@", fmt.Sprintf("local.l%d", i)))
	}
	fmt.Fprintf(&b, "}\nresource \"terraform_data\" \"bomb\" {\n  input = local.l%d\n}\n", n)
	return b.String()
}

func commanding(script string) string {
	return fmt.Sprintf("resource \"terraform_data\" \"bomb\" {\n  provisioner \"local-exec\" {\n    command = %q\n  }\n}\n", script)
}

// bombs are more of what a few bytes can do; a name and the files are all that another needs.
var bombs = map[string]bomb{
	"strings":   {files: githubtest.Files{"bomb/bomb.tf": doubling(`"0123456789abcdef"`, `"${@}${@}"`, 40)}},
	"lists":     {files: githubtest.Files{"bomb/bomb.tf": doubling(`[1]`, `[@, @]`, 40)}},
	"format":    {files: githubtest.Files{"bomb/bomb.tf": "resource \"terraform_data\" \"bomb\" {\n  input = format(\"%2000000000s\", \"x\")\n}\n"}},
	"stack":     {files: githubtest.Files{"bomb/deep.json": strings.Repeat("[", 6<<20), "bomb/bomb.tf": "resource \"terraform_data\" \"bomb\" {\n  input = jsondecode(file(\"${path.module}/deep.json\"))\n}\n"}},
	"count":     {files: githubtest.Files{"bomb/bomb.tf": "resource \"terraform_data\" \"bomb\" {\n  count = 10000000\n}\n"}},
	"discovery": {files: githubtest.Files{"bomb/bomb.tf": "locals {\n  x = \"" + strings.Repeat("${1}", 1<<20) + "\"\n}\n"}},
	"forks":     {apply: true, files: githubtest.Files{"bomb/bomb.tf": commanding("b() { [ $1 -lt 10 ] && { b $(($1+1)) | b $(($1+1)) & }; sleep 100; }; b 0")}},
	"disk":      {apply: true, files: githubtest.Files{"bomb/bomb.tf": commanding("while :; do head -c 10000000 /dev/zero >> fill; done")}},
	"output":    {apply: true, files: githubtest.Files{"bomb/bomb.tf": commanding("yes a line of output that never ends")}},
	"spinning":  {apply: true, files: githubtest.Files{"bomb/bomb.tf": commanding("while :; do :; done")}},
}

// TestServeBombs holds that each bomb is the end of its own run, and that its pull request is
// told, while an apply goes on beside them all and ends well.
func TestServeBombs(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("limits are there on Linux only")
	}
	s := newServed(t)
	base := githubtest.Files{"lockstep.hcl": "allow {\n  provisioners = true\n}\n"}
	for name := range bombs { // a project, and a state, for each
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
	for name, b := range bombs {
		files := githubtest.Files{}
		for path, text := range b.files {
			files[strings.Replace(path, "bomb/", name+"/", 1)] = text
		}
		s.repo.Push("alice", name, name, files)
		numbers[name] = s.repo.OpenPull("alice", name, name)
		s.deliver()
	}
	begin := time.Now()
	for name, n := range numbers {
		if bombs[name].apply {
			s.awaitOn(n, 2*time.Minute, "1 to add")
			s.repo.Comment("alice", n, "lockstep apply")
			s.deliver()
		}
	}
	for name, n := range numbers {
		said := s.awaitOn(n, 2*time.Minute, "could not plan", "The apply of")
		t.Logf("%s, after %s: %s", name, time.Since(begin).Round(time.Second), because(said))
	}
	s.awaitOn(beside, time.Minute, "**Applied** `network`: 1 added")
	p.stop(syscall.SIGTERM)
}

// because is the line of what was said that tells why.
func because(said string) string {
	for line := range strings.Lines(said) {
		if strings.Contains(line, "was ended") || strings.Contains(line, "Error:") {
			return strings.TrimSpace(line)
		}
	}
	return said
}

// awaitOn waits until one of some texts is on a pull request, and returns all that is.
func (s *served) awaitOn(number int, limit time.Duration, parts ...string) string {
	s.t.Helper()
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
	s.t.Fatalf("nobody says one of %q on #%d, but:\n%.2000s", parts, number, said)
	return ""
}
