//go:build linux

package lambdatest_test

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestFunctionsAreShielded carries out an attack on each function's real program: another
// process of the same user reads the credentials in its environment. It does so when the
// function asks for its first secret, so that it is shielded before it knows any.
func TestFunctionsAreShielded(t *testing.T) {
	t.Parallel()
	programs, err := bootstraps()
	if err != nil {
		t.Fatal(err)
	}
	dir, err := os.MkdirTemp("", "lockstep-shielded-*") // others may enter it, once we say so
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	for name, program := range programs {
		copied := filepath.Join(dir, name)
		data, err := os.ReadFile(program)
		if err == nil {
			err = os.WriteFile(copied, data, 0o755)
		}
		if err != nil {
			t.Fatal(err)
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			asked, address := silent(t)
			p := unprivileged(copied)
			p.Env = functionEnvironment(address)
			if err := p.Start(); err != nil {
				t.Fatal(err)
			}
			ended := make(chan error, 1)
			go func() { ended <- p.Wait() }()
			t.Cleanup(func() { p.Process.Kill() })
			select {
			case <-asked:
			case err := <-ended:
				t.Fatalf("it ended before it asked for a secret: %v", err)
			case <-time.After(30 * time.Second):
				t.Fatal("it asked for no secret")
			}
			if got := environOf(t, p.Process.Pid); strings.Contains(got, sessionKey) {
				t.Errorf("its environment can be read: %q", got)
			}
		})
	}
	t.Run("what is not shielded can be read", func(t *testing.T) {
		t.Parallel()
		p := unprivileged("/bin/sleep", "60")
		p.Env = functionEnvironment("127.0.0.1:1")
		if err := p.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { p.Process.Kill(); p.Wait() })
		for began := time.Now(); !strings.Contains(environOf(t, p.Process.Pid), sessionKey); time.Sleep(10 * time.Millisecond) {
			if time.Since(began) > 10*time.Second {
				t.Fatal("the attack does not work")
			}
		}
	})
}

const sessionKey = "hunter2hunter2hunter2"

// functionEnvironment is what template.yaml and AWS set for a function, where AWS is at an
// address.
func functionEnvironment(address string) []string {
	arn := "arn:aws:secretsmanager:us-east-1:1:secret:"
	return []string{
		"AWS_ACCESS_KEY_ID=AKID", "AWS_SECRET_ACCESS_KEY=" + sessionKey, "AWS_REGION=us-east-1", "AWS_ENDPOINT_URL=http://" + address,
		"LOCKSTEP_TABLE=t", "LOCKSTEP_BUCKET=b", "LOCKSTEP_AUDIT=a", "LOCKSTEP_KEY=k", "LOCKSTEP_APP_ID=1", "LOCKSTEP_MAX_PLANS=10",
		"LOCKSTEP_EVENTS_QUEUE=https://sqs/e.fifo", "LOCKSTEP_PLANS_QUEUE=https://sqs/p.fifo", "LOCKSTEP_APPLIES_QUEUE=https://sqs/a.fifo",
		"LOCKSTEP_STATE_ROLE=arn:aws:iam::1:role/states", "LOCKSTEP_STATE_EXTERNAL_ID=stack",
		"LOCKSTEP_APP_KEY_SECRET=" + arn + "key", "LOCKSTEP_WEBHOOK_SECRET=" + arn + "hook", "LOCKSTEP_APPS_SECRETS=lockstep/apps/", "LOCKSTEP_PAGE_SECRET=" + arn + "page",
	}
}

// silent is a server that takes connections and never answers. It says when it was asked.
func silent(t *testing.T) (asked <-chan struct{}, address string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	first := make(chan struct{}, 16)
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			t.Cleanup(func() { c.Close() })
			first <- struct{}{}
		}
	}()
	return first, l.Addr().String()
}

// unprivileged is a command of somebody who is not root, from whom nothing is hidden.
func unprivileged(program string, args ...string) *exec.Cmd {
	cmd := exec.Command(program, args...)
	cmd.Dir, cmd.Env = "/", []string{}
	if os.Getuid() == 0 {
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	}
	return cmd
}

// environOf is what another process of the same user finds in a process' environment, or is
// told.
func environOf(t *testing.T, pid int) string {
	t.Helper()
	out, _ := unprivileged("/bin/cat", fmt.Sprintf("/proc/%d/environ", pid)).CombinedOutput() // it fails where it should
	return string(out)
}
