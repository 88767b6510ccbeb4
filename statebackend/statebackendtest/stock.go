package statebackendtest

import (
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/lockstep-iac/lockstep/statebackend"
)

// Stock is a working directory with a stock command line tool. The tool checks the states and locks that
// Lockstep writes.
type Stock struct {
	t       testing.TB
	program string
	dir     string
	env     []string
}

// NewStock creates a directory with a configuration for `terraform`. If terraform is not on PATH, the test is
// skipped. The tool works offline, so the only resource type available to the configuration is
// terraform_data.
func NewStock(t testing.TB, dir, configuration string, env ...string) *Stock {
	t.Helper()
	program, err := exec.LookPath("terraform")
	if err != nil {
		t.Skip("no terraform on PATH to compare with")
	}
	if err := os.WriteFile(filepath.Join(dir, "main.tf"), []byte(configuration), 0o644); err != nil {
		t.Fatal(err)
	}
	s := &Stock{t: t, program: program, dir: dir}
	s.env = append(os.Environ(), "TF_CLI_CONFIG_FILE="+os.DevNull, "TF_IN_AUTOMATION=1", "CHECKPOINT_DISABLE=1")
	s.env = append(s.env, env...)
	return s
}

func (s *Stock) command(args ...string) *exec.Cmd {
	cmd := exec.CommandContext(s.t.Context(), s.program, args...)
	cmd.Dir, cmd.Env = s.dir, s.env
	return cmd
}

// Run runs a command, and returns its output and exit code.
func (s *Stock) Run(args ...string) (output string, code int) {
	s.t.Helper()
	b, err := s.command(args...).CombinedOutput()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		s.t.Fatalf("terraform %q: %v", args, err)
	}
	if exit != nil {
		code = exit.ExitCode()
	}
	return string(b), code
}

// Must runs a command, and returns its output. The test fails if the command fails.
func (s *Stock) Must(args ...string) string {
	s.t.Helper()
	output, code := s.Run(args...)
	if code != 0 {
		s.t.Fatalf("terraform %q: exit %d\n%s", args, code, output)
	}
	return output
}

// StockRun is a command that is running.
type StockRun struct {
	cmd    *exec.Cmd
	input  io.WriteCloser
	output lockedBuffer
}

// Start starts a command. It is killed at the end of the test.
func (s *Stock) Start(args ...string) *StockRun {
	s.t.Helper()
	r := &StockRun{cmd: s.command(args...)}
	r.cmd.Stdout, r.cmd.Stderr = &r.output, &r.output
	input, err := r.cmd.StdinPipe()
	if err != nil {
		s.t.Fatal(err)
	}
	r.input = input
	if err := r.cmd.Start(); err != nil {
		s.t.Fatal(err)
	}
	return r
}

// Answer types a line into the command and waits for its end. It returns the command's output and exit code.
func (r *StockRun) Answer(line string) (output string, code int) {
	io.WriteString(r.input, line+"\n")
	r.input.Close()
	r.cmd.Wait()
	return r.output.String(), r.cmd.ProcessState.ExitCode()
}

// WaitForLock waits until somebody holds a lock, and returns it.
func WaitForLock(t testing.TB, l statebackend.Locker) statebackend.HeldLock {
	t.Helper()
	for range 600 {
		held, err := l.Locks(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if len(held) > 0 && held[0].Info.ID != "" {
			return held[0]
		}
		time.Sleep(50 * time.Millisecond)
	}
	t.Fatal("nobody takes the lock")
	return statebackend.HeldLock{}
}
