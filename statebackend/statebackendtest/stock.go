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

// Stock is a working directory with a stock command line tool, the judge of our
// states and locks.
type Stock struct {
	t       testing.TB
	program string
	dir     string
	env     []string
}

// NewStock makes a directory with a configuration for `terraform`, if there is
// one on PATH; the test is skipped otherwise. The tool stays offline, so the
// configuration can use the resource terraform_data alone.
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

// Run runs a command, and returns its output and its exit code.
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

// Must runs a command that succeeds.
func (s *Stock) Must(args ...string) string {
	s.t.Helper()
	output, code := s.Run(args...)
	if code != 0 {
		s.t.Fatalf("terraform %q: exit %d\n%s", args, code, output)
	}
	return output
}

// StockRun is a command under way.
type StockRun struct {
	cmd    *exec.Cmd
	input  io.WriteCloser
	output lockedBuffer
}

// Start starts a command. It is killed with the test.
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

// Answer types a line, after which the command ends; it returns the command's
// output and its exit code.
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
