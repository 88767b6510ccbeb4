package main

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

	"github.com/rogpeppe/go-internal/testscript"

	demoworld "github.com/lockstep-iac/lockstep/cmd/lockstep/internal/demo"
)

// TestMain runs the tests, or the command itself where a test has started this
// binary by the name "lockstep".
//
// A program inherits ignored signals, as under nohup. One that the tests catch has its
// default action in the programs that they start.
// Source: signal(7), on execve.
func TestMain(m *testing.M) {
	demoworld.Main()
	if filepath.Base(os.Args[0]) != "lockstep" && signal.Ignored(syscall.SIGHUP) {
		signal.Notify(make(chan os.Signal, 1), syscall.SIGHUP)
	}
	// Most of what a test does is to wait for processes.
	flag.Set("test.parallel", strconv.Itoa(3*runtime.GOMAXPROCS(0)))
	testscript.Main(m, map[string]func(){"lockstep": main})
}

// A workspaceDir is a directory with a configuration, to run the command in.
type workspaceDir struct {
	t    *testing.T
	path string
	env  []string // beside what all commands have
}

// newDir returns a directory with files: name, content, name, content...
func newDir(t *testing.T, files ...string) workspaceDir {
	t.Helper()
	d := workspaceDir{t: t, path: t.TempDir()}
	for i := 0; i < len(files); i += 2 {
		d.write(files[i], files[i+1])
	}
	return d
}

func (d workspaceDir) write(name, content string) {
	d.t.Helper()
	path := filepath.Join(d.path, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		d.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		d.t.Fatal(err)
	}
}

// environ is the environment of commands: nothing of the person who runs the tests.
func (d workspaceDir) environ() []string {
	return append([]string{"PATH=" + os.Getenv("PATH"), "HOME=" + d.path, "TF_CLI_CONFIG_FILE=" + os.DevNull}, d.env...)
}

// A result is what a command left behind.
type result struct {
	code        int
	out, stderr string
}

// run runs the command in a process of its own.
func (d workspaceDir) run(args ...string) result {
	d.t.Helper()
	cmd := &exec.Cmd{Path: executable(d.t), Args: append([]string{"lockstep"}, args...), Dir: d.path, Env: d.environ()}
	var out, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &stderr
	err := cmd.Run()
	var failed *exec.ExitError
	if err != nil && !errors.As(err, &failed) {
		d.t.Fatal(err)
	}
	return result{cmd.ProcessState.ExitCode(), out.String(), stderr.String()}
}

// must runs the command, which must succeed.
func (d workspaceDir) must(args ...string) result {
	d.t.Helper()
	r := d.run(args...)
	if r.code != 0 {
		d.t.Fatalf("lockstep %s: exit code %d\n%s%s", strings.Join(args, " "), r.code, r.out, r.stderr)
	}
	return r
}

func executable(t *testing.T) string {
	t.Helper()
	path, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return path
}
