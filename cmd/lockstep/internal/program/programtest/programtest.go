// Package programtest runs the program lockstep in tests. The program is the test's own binary under another
// name. It runs in test directories ([Dir]), or from scripts of command lines ([Scripts]). The package does not
// know which commands the program has. Start at [Main].
package programtest

import (
	"bytes"
	"errors"
	"flag"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// Main runs the tests. If a test has started this binary under the name "lockstep", Main runs the program
// instead.
//
// Main also catches signals that this process ignores, for instance under nohup. A child process would ignore
// them, too. If they are caught, they have their default action in a child.
// Source: signal(7), on execve.
func Main(m *testing.M, program func()) {
	if filepath.Base(os.Args[0]) != "lockstep" && signal.Ignored(syscall.SIGHUP) {
		signal.Notify(make(chan os.Signal, 1), syscall.SIGHUP)
	}
	// Tests mostly wait for processes, so more of them can run in parallel.
	flag.Set("test.parallel", strconv.Itoa(3*runtime.GOMAXPROCS(0)))
	testscript.Main(m, map[string]func(){"lockstep": program})
}

// A Dir is a directory with a configuration in which a test runs the command.
type Dir struct {
	T    *testing.T
	Path string
	Env  []string // in addition to Environ's own
}

// NewDir returns a new directory with the given files. The arguments are name, content, name, content, ...
func NewDir(t *testing.T, files ...string) Dir {
	t.Helper()
	d := Dir{T: t, Path: t.TempDir()}
	for i := 0; i < len(files); i += 2 {
		d.Write(files[i], files[i+1])
	}
	return d
}

// Write writes a file, and creates its directory.
func (d Dir) Write(name, content string) {
	d.T.Helper()
	path := filepath.Join(d.Path, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		d.T.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		d.T.Fatal(err)
	}
}

// Environ returns the environment variables for commands in this directory. It contains none of the variables
// of the test's own process.
func (d Dir) Environ() []string {
	return append([]string{"PATH=" + os.Getenv("PATH"), "HOME=" + d.Path, "TF_CLI_CONFIG_FILE=" + os.DevNull}, d.Env...)
}

// A Result is the result of a command.
type Result struct {
	Code        int
	Out, Stderr string
}

// Run runs the command in a new process.
func (d Dir) Run(args ...string) Result {
	d.T.Helper()
	cmd := &exec.Cmd{Path: Executable(d.T), Args: append([]string{"lockstep"}, args...), Dir: d.Path, Env: d.Environ()}
	var out, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &stderr
	err := cmd.Run()
	var failed *exec.ExitError
	if err != nil && !errors.As(err, &failed) {
		d.T.Fatal(err)
	}
	return Result{Code: cmd.ProcessState.ExitCode(), Out: out.String(), Stderr: stderr.String()}
}

// Must runs the command. The test fails if the command fails.
func (d Dir) Must(args ...string) Result {
	d.T.Helper()
	r := d.Run(args...)
	if r.Code != 0 {
		d.T.Fatalf("lockstep %s: exit code %d\n%s%s", strings.Join(args, " "), r.Code, r.Out, r.Stderr)
	}
	return r
}

// Executable returns the path of the test's own binary under the name "lockstep". Started under this name, the
// binary is the program.
func Executable(t *testing.T) string {
	t.Helper()
	path, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// WaitFor calls done until it returns true. If that takes ten minutes, the test fails: the limit is there for what never comes,
// not for a slow machine. what names, in the failure message, what the test has waited for.
func WaitFor(t *testing.T, what string, done func() bool) {
	t.Helper()
	for end := time.Now().Add(10 * time.Minute); time.Now().Before(end); {
		if done() {
			return
		}
		time.Sleep(20 * time.Millisecond)
	}
	t.Fatalf("waited in vain until %s", what)
}
