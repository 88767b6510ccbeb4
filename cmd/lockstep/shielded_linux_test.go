package main

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/lockstep-iac/lockstep/cmd/lockstep/internal/program/programtest"
)

// TestServeIsShielded carries out an attack: another process of the user that serve runs
// as, as a plugin is, reads the credentials in its environment. It does so when serve asks
// GitHub who it is, before it takes its first webhook.
func TestServeIsShielded(t *testing.T) {
	t.Parallel()
	const secret = "hunter2hunter2hunter2"
	asked := make(chan struct{}, 16)
	done := make(chan struct{})
	api := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked <- struct{}{}; <-done }))
	t.Cleanup(api.Close)
	t.Cleanup(func() { close(done) })
	s := newServed(t)
	dir, err := os.MkdirTemp("", "lockstep-shielded-*") // others may enter it, once we say so
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	program, err := os.ReadFile(programtest.Executable(t))
	err = errors.Join(err, os.Chmod(dir, 0o755), os.WriteFile(filepath.Join(dir, "lockstep"), program, 0o755),
		os.WriteFile(filepath.Join(dir, "key.pem"), []byte(s.hub.AppKey()), 0o644), os.WriteFile(filepath.Join(dir, "secret"), []byte("of webhooks"), 0o644))
	if err != nil {
		t.Fatal(err)
	}
	other := func(program string, args ...string) *exec.Cmd {
		cmd := exec.Command(program, args...)
		cmd.Dir, cmd.Env = dir, []string{}
		if os.Getuid() == 0 {
			cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
		}
		return cmd
	}
	attack := func(pid int) string {
		out, _ := other("/bin/cat", fmt.Sprintf("/proc/%d/environ", pid)).CombinedOutput() // it fails where it should
		return string(out)
	}
	start := func(program string, args ...string) int {
		p := other(program, args...)
		p.Env = []string{"AWS_SECRET_ACCESS_KEY=" + secret}
		if err := p.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { p.Process.Kill(); p.Wait() })
		return p.Process.Pid
	}
	open := start("/bin/sleep", "60")
	for began := time.Now(); !strings.Contains(attack(open), secret); time.Sleep(10 * time.Millisecond) {
		if time.Since(began) > 10*time.Second {
			t.Fatal("the attack does not work where nothing is shielded")
		}
	}
	data := filepath.Join(dir, "data")
	if err := errors.Join(os.Mkdir(data, 0o700), os.Chmod(data, 0o777)); err != nil { // the program runs as another user
		t.Fatal(err)
	}
	pid := start(filepath.Join(dir, "lockstep"), "serve", "-app-id", "1", "-app-key", "key.pem", "-webhook-secret", "secret",
		"-github-url", api.URL, "-addr", "127.0.0.1:0", "-data", "data")
	select {
	case <-asked:
	case <-time.After(30 * time.Second):
		t.Fatal("serve asks GitHub nothing")
	}
	if got := attack(pid); strings.Contains(got, secret) {
		t.Errorf("its environment can be read: %q", got)
	}
}
