// Package programtest runs the program lockstep in tests: the test's own binary under another name, in directories of its own ([Dir]), and
// scripts of command lines ([Scripts]). It does not know which commands the program has. Start at [Main].
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

// Main runs the tests, or the program where a test has started this binary by the name "lockstep".
//
// A program inherits ignored signals, as under nohup. One that the tests catch has its default action in the programs that they start.
// Source: signal(7), on execve.
func Main(m *testing.M, program func()) {
	if filepath.Base(os.Args[0]) != "lockstep" && signal.Ignored(syscall.SIGHUP) {
		signal.Notify(make(chan os.Signal, 1), syscall.SIGHUP)
	}
	// Most of what a test does is to wait for processes.
	flag.Set("test.parallel", strconv.Itoa(3*runtime.GOMAXPROCS(0)))
	testscript.Main(m, map[string]func(){"lockstep": program})
}

// A Dir is a directory with a configuration, to run the command in.
type Dir struct {
	T    *testing.T
	Path string
	Env  []string // beside what all commands have
}

// NewDir returns a directory with files: name, content, name, content...
func NewDir(t *testing.T, files ...string) Dir {
	t.Helper()
	d := Dir{T: t, Path: t.TempDir()}
	for i := 0; i < len(files); i += 2 {
		d.Write(files[i], files[i+1])
	}
	return d
}

// Write writes a file, and makes its directory.
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

// Environ is the environment of commands: nothing of the person who runs the tests.
func (d Dir) Environ() []string {
	return append([]string{"PATH=" + os.Getenv("PATH"), "HOME=" + d.Path, "TF_CLI_CONFIG_FILE=" + os.DevNull}, d.Env...)
}

// A Result is what a command left behind.
type Result struct {
	Code        int
	Out, Stderr string
}

// Run runs the command in a process of its own.
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

// Must runs the command, which must succeed.
func (d Dir) Must(args ...string) Result {
	d.T.Helper()
	r := d.Run(args...)
	if r.Code != 0 {
		d.T.Fatalf("lockstep %s: exit code %d\n%s%s", strings.Join(args, " "), r.Code, r.Out, r.Stderr)
	}
	return r
}

// Executable returns the path of this binary: it is the program under the name "lockstep".
func Executable(t *testing.T) string {
	t.Helper()
	path, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// WaitFor waits for something to become true, for half a minute.
func WaitFor(t *testing.T, what string, is func() bool) {
	t.Helper()
	WaitIn(t, 30*time.Second, what, is)
}

// WaitIn waits for something to become true.
func WaitIn(t *testing.T, limit time.Duration, what string, is func() bool) {
	t.Helper()
	for end := time.Now().Add(limit); time.Now().Before(end); {
		if is() {
			return
		}
		time.Sleep(20 * time.Millisecond)
	}
	t.Fatalf("waited in vain until %s", what)
}
