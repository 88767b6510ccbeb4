package shield

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

const shieldVariable = "LOCKSTEP_TEST_SHIELD"

// TestMain is also a process that has a secret in its environment, and starts another
// that looks for it.
func TestMain(m *testing.M) {
	mode := os.Getenv(shieldVariable)
	if mode == "" {
		os.Exit(m.Run())
	}
	if mode == "shielded" {
		if err := Raise(); err != nil {
			fmt.Println(err)
			os.Exit(2)
		}
	}
	cmd := exec.Command("/bin/cat", fmt.Sprintf("/proc/%d/environ", os.Getpid()))
	cmd.Env, cmd.Stdout, cmd.Stderr = []string{}, os.Stdout, os.Stdout
	_ = cmd.Run() // what it says is looked at
	os.Exit(0)
}

// TestRaise holds that a process which we start cannot read our environment, and that it
// could otherwise. Root can, so it is somebody else who tries.
func TestRaise(t *testing.T) {
	t.Parallel()
	dir, err := os.MkdirTemp("", "lockstep-shield-*") // others may enter it, once we say so
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	program := filepath.Join(dir, "program")
	if err := errors.Join(os.Chmod(dir, 0o755), copyProgram(program)); err != nil {
		t.Fatal(err)
	}
	for mode, readable := range map[string]bool{"open": true, "shielded": false} {
		cmd := exec.Command(program)
		cmd.Dir = "/"
		cmd.Env = []string{shieldVariable + "=" + mode, "AWS_SECRET_ACCESS_KEY=hunter2hunter2"}
		if os.Getuid() == 0 {
			cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
		}
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%s: %v: %s", mode, err, out)
		}
		if strings.Contains(string(out), "hunter2hunter2") != readable {
			t.Errorf("%s: %q", mode, out)
		}
	}
}

// copyProgram puts a copy of the test's own program to a path.
func copyProgram(path string) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	from, err := os.Open(self)
	if err != nil {
		return err
	}
	defer from.Close()
	to, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY, 0o755)
	if err != nil {
		return err
	}
	_, err = io.Copy(to, from)
	return errors.Join(err, to.Close())
}
