//go:build unix

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lockstep-iac/lockstep/github/githubtest"
)

// ticket is a program for hooks: it notes its input and its environment, and answers.
const ticket = `#!/bin/sh
cat >> "$0.log"
echo >> "$0.log"
env >> "$0.env"
echo '{"messages":["CHG-7 is open"]}'
`

// TestServeHooks holds that serve runs the programs in the directory of its option, and no others that a base branch names.
func TestServeHooks(t *testing.T) {
	t.Parallel()
	s := newServed(t)
	dir := t.TempDir()
	programs := filepath.Join(dir, "programs")
	for name, f := range map[string]struct {
		text string
		mode os.FileMode
	}{
		"programs/ticket": {ticket, 0o755}, "programs/open": {ticket, 0o777}, "programs/text": {ticket, 0o644}, "programs/fails": {"#!/bin/sh\nexit 3\n", 0o755},
		"programs/sleeps": {"#!/bin/sh\nsleep 600 & sleep 600\n", 0o755}, "programs/endless": {"#!/bin/sh\nexec head -c 1000000 /dev/zero\n", 0o755}, "outside": {ticket, 0o755},
	} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(f.text), f.mode); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(path, f.mode); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("../outside", filepath.Join(programs, "link")); err != nil {
		t.Fatal(err)
	}
	settings := func(program string) string {
		return fmt.Sprintf("project \"network\" {\n  dir = \"network\"\n}\n\nhook \"it\" {\n  on      = [\"before_plan\", \"after_apply\"]\n  program = %q\n  timeout = \"2s\"\n}\n", program)
	}
	s.Env = append(s.Env, "HOOK_TOKEN=for-the-hook", "LOCKSTEP_SERVES=acme/infra")
	s.repo.Push("alice", "main", "A hook", githubtest.Files{"lockstep.hcl": settings("nowhere")})
	p := s.start("-hook-programs", programs)
	s.repo.Push("alice", "hosts", "Two hosts", githubtest.Files{"network/main.tf": fmt.Sprintf(servedNetwork, 2)})
	s.repo.OpenPull("alice", "Two hosts", "hosts")
	s.deliver()
	s.await("has no file nowhere")
	for _, c := range []struct{ program, want string }{
		{"open", "others may write in it"}, {"text", "text is no program"}, {"link", "link is no program"}, {"fails", "ended with the exit code 3"},
		{"sleeps", "there was no answer within 2 s"}, {"endless", "the answer has more than 65536 bytes"},
	} {
		s.repo.Push("alice", "main", c.program, githubtest.Files{"lockstep.hcl": settings(c.program)})
		s.repo.Comment("alice", 1, "lockstep plan")
		s.deliver()
		s.await(c.want)
	}
	s.repo.Push("alice", "main", "The hook", githubtest.Files{"lockstep.hcl": settings("ticket")})
	s.repo.Comment("alice", 1, "lockstep plan")
	s.deliver()
	s.await("(before_plan): `CHG-7 is open`")
	s.repo.Comment("alice", 1, "lockstep apply")
	s.deliver()
	s.await("(after_apply): `CHG-7 is open`")
	p.stop(os.Interrupt)
	log, err := os.ReadFile(filepath.Join(programs, "ticket.log"))
	if err != nil || strings.Count(string(log), "\n") != 2 || !strings.Contains(string(log), `"event":"after_apply"`) {
		t.Errorf("%v: %s", err, log)
	}
	env, err := os.ReadFile(filepath.Join(programs, "ticket.env"))
	if err != nil || !strings.Contains(string(env), "HOOK_TOKEN=for-the-hook") || strings.Contains(string(env), "LOCKSTEP_") {
		t.Errorf("%v: the environment is %s", err, env)
	}
}
