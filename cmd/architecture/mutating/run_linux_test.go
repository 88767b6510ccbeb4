package mutating

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// A verdict is the end of a run of a package's tests.
type verdict string

const (
	survived verdict = "survived"
	killed   verdict = "killed"
	timedOut verdict = "timeout" // killed, too, but slowly
	unbuilt  verdict = "unbuilt" // not counted
)

// A mutant may take this many times as long as the code as it is, and a moment.
const (
	patience = 5
	moment   = 10 * time.Second
)

// A runner runs tests in a temporary directory of its own.
type runner struct {
	dir      string
	self     string // this program
	env      []string
	baseline map[string]time.Duration // by package
}

// newRunner prepares the directory. Tests have their home and their temporary files in it, and
// write nowhere else: see enter.
func newRunner(dir string) (*runner, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	out, err := exec.Command("go", "env", "GOCACHE", "GOPATH", "GOMODCACHE").Output()
	if err != nil {
		return nil, fmt.Errorf("go env: %w", err)
	}
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	r := &runner{dir: dir, self: self, env: os.Environ(), baseline: map[string]time.Duration{}}
	r.env = append(r.env, "GOCACHE="+lines[0], "GOPATH="+lines[1], "GOMODCACHE="+lines[2], confinedVariable+"="+dir,
		"HOME="+filepath.Join(dir, "home"), "TMPDIR="+filepath.Join(dir, "tmp"))
	return r, errors.Join(os.Mkdir(filepath.Join(dir, "home"), 0o700), os.Mkdir(filepath.Join(dir, "tmp"), 0o700))
}

// run runs the tests of the mutant's package with the mutant.
func (r *runner) run(c chosen) (verdict, error) {
	limit, err := r.limit(c.PkgPath)
	if err != nil {
		return "", err
	}
	text, overlay := filepath.Join(r.dir, "mutant.go"), filepath.Join(r.dir, "overlay.json")
	if err := os.WriteFile(text, c.apply(c.sources[c.file]), 0o600); err != nil {
		return "", err
	}
	data, err := json.Marshal(map[string]any{"Replace": map[string]string{c.file: text}})
	if err != nil {
		return "", err
	}
	if err := os.WriteFile(overlay, data, 0o600); err != nil {
		return "", err
	}
	v, _ := r.test(c.PkgPath, limit, "-overlay="+overlay)
	return v, nil
}

// limit returns the time for the tests of a package, from a run of the code as it is.
func (r *runner) limit(pkg string) (time.Duration, error) {
	if _, ok := r.baseline[pkg]; !ok {
		if v, out := r.test(pkg, 10*time.Minute); v != survived { // builds what is to be built
			return 0, fmt.Errorf("%s: its tests without a mutant: %s\n%s", pkg, v, out)
		}
		begun := time.Now()
		r.test(pkg, 10*time.Minute)
		r.baseline[pkg] = time.Since(begun)
	}
	return patience*r.baseline[pkg] + moment, nil
}

// test runs the tests of a package, and ends all of their processes.
func (r *runner) test(pkg string, limit time.Duration, flags ...string) (verdict, string) {
	ctx, cancel := context.WithTimeout(context.Background(), limit+10*time.Minute) // the compiler's time, too
	defer cancel()
	args := append([]string{"test", "-short", "-count=1", "-failfast", "-run=" + *tests, "-vet=off", "-timeout=" + limit.String(), "-exec=" + r.self}, flags...)
	c := exec.CommandContext(ctx, "go", append(args, pkg)...)
	c.Dir, c.Env = repository, r.env
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	c.Cancel = func() error { return syscall.Kill(-c.Process.Pid, syscall.SIGKILL) }
	c.WaitDelay = 5 * time.Second
	out, err := c.CombinedOutput()
	syscall.Kill(-c.Process.Pid, syscall.SIGKILL) // the processes that a test left
	return verdictOf(string(out), err == nil, ctx.Err() != nil), string(out)
}

// verdictOf reads the output of go test; ok means that it ended with success.
func verdictOf(out string, ok, late bool) verdict {
	switch {
	case late || strings.Contains(out, "panic: test timed out"):
		return timedOut
	case ok:
		return survived
	case strings.Contains(out, "[build failed]") || strings.Contains(out, "[setup failed]"):
		return unbuilt
	default:
		return killed
	}
}
