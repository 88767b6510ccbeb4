package threats

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
	"testing"
	"time"
)

// How long an attack's test may take, with and without the mutant, after it is built; and
// how long go test as a whole may.
const (
	attackTime = 4 * time.Minute
	wholeTime  = 8 * time.Minute
)

// A lab runs attacks, and remembers which ones pass without a mutant.
type lab struct {
	root   string // the repository
	tmp    string
	copied string // a copy of the repository, once one is needed
	among  bool   // all tests run, and so each attack without a mutant
	whole  map[string]verdict
}

func newLab(t *testing.T, among bool) *lab {
	root, err := filepath.Abs(repository)
	if err != nil {
		t.Fatal(err)
	}
	return &lab{root: root, tmp: t.TempDir(), among: among, whole: map[string]verdict{}}
}

// prove runs a row's attack with the code as it is, and then with the mutant. The note says
// what hinders a proof.
func (l *lab) prove(r row) (v verdict, note string) {
	key := r.pkg + " " + r.pattern
	if l.among {
		l.whole[key] = passed
	}
	if _, ok := l.whole[key]; !ok {
		v, out := l.test(l.root, r, "")
		l.whole[key] = v
		note = out
	}
	if v := l.whole[key]; v != passed {
		return empty, fmt.Sprintf("(without the mutant: %s)\n%s", v, note)
	}
	files, err := r.weakened(readRepository)
	if err != nil {
		return empty, err.Error()
	}
	run := l.overlaid
	if r.copied {
		run = l.inCopy
	}
	v, out, err := run(r, files)
	if err != nil {
		return empty, err.Error()
	}
	if v.died() {
		return v, ""
	}
	return v, out
}

// overlaid runs an attack with the files in the place of the repository's. The overlay is
// in GOFLAGS, so that a test which builds programs builds them weakened, too.
func (l *lab) overlaid(r row, files map[string]string) (verdict, string, error) {
	dir, err := os.MkdirTemp(l.tmp, "mutant")
	if err != nil {
		return "", "", err
	}
	defer os.RemoveAll(dir)
	replace := map[string]string{}
	for name, text := range files {
		file := filepath.Join(dir, fmt.Sprintf("%d-%s", len(replace), filepath.Base(name)))
		replace[filepath.Join(l.root, name)] = file
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			return "", "", err
		}
	}
	data, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return "", "", err
	}
	overlay := filepath.Join(dir, "overlay.json")
	if err := os.WriteFile(overlay, data, 0o600); err != nil {
		return "", "", err
	}
	v, out := l.test(l.root, r, "-overlay="+overlay)
	return v, out, nil
}

// inCopy runs an attack in a copy of the repository with the files in it, and puts what
// was there back.
func (l *lab) inCopy(r row, files map[string]string) (_ verdict, _ string, err error) {
	if err := l.copy(); err != nil {
		return "", "", fmt.Errorf("copy the repository: %w", err)
	}
	for name, text := range files {
		whole, err := readRepository(name)
		if err != nil {
			return "", "", err
		}
		file := filepath.Join(l.copied, name)
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			return "", "", err
		}
		defer func() { err = errors.Join(err, os.WriteFile(file, []byte(whole), 0o600)) }()
	}
	v, out := l.test(l.copied, r, "")
	return v, out, nil
}

// copy copies what git knows or would add, once.
func (l *lab) copy() error {
	if l.copied != "" {
		return nil
	}
	list := exec.Command("git", "ls-files", "-z", "--cached", "--others", "--exclude-standard")
	list.Dir = l.root
	names, err := list.Output()
	if err != nil {
		return fmt.Errorf("git ls-files: %w", err)
	}
	dir := filepath.Join(l.tmp, "copy")
	for name := range strings.SplitSeq(strings.TrimSuffix(string(names), "\x00"), "\x00") {
		info, err := os.Stat(filepath.Join(l.root, name))
		if errors.Is(err, os.ErrNotExist) {
			continue // deleted, and not committed
		}
		if err != nil {
			return err
		}
		data, err := os.ReadFile(filepath.Join(l.root, name))
		if err != nil {
			return err
		}
		file := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			return err
		}
		if err := os.WriteFile(file, data, info.Mode().Perm()); err != nil {
			return err
		}
	}
	l.copied = dir
	return nil
}

// test runs an attack's test, again if the machine hinders it; flag is one more for go, or empty. It returns the end of the
// output, too.
func (l *lab) test(dir string, r row, flag string) (v verdict, out string) {
	for try := range 4 {
		time.Sleep(time.Duration(try) * 20 * time.Second)
		if v, out = l.testOnce(dir, r, flag); v != hindered {
			break
		}
	}
	return v, out
}

func (l *lab) testOnce(dir string, r row, flag string) (verdict, string) {
	ctx, cancel := context.WithTimeout(context.Background(), wholeTime)
	defer cancel()
	c := exec.CommandContext(ctx, "go", "test", "-json", "-vet=off", "-ldflags=-s -w", "-count=1", "-timeout", attackTime.String(), "-run", r.runs(), r.pkg)
	c.Dir = dir
	c.Env = append(os.Environ(), "GOFLAGS="+strings.TrimSpace(os.Getenv("GOFLAGS")+" "+flag), "LOCKSTEP_MUTANTS=", "LOCKSTEP_MUTANTS_SHARD=")
	// The test's processes end with it, also those that a weakened defence lets live.
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	c.Cancel = func() error { return syscall.Kill(-c.Process.Pid, syscall.SIGKILL) }
	c.WaitDelay = 10 * time.Second
	out, err := c.CombinedOutput()
	text := string(out)
	if ctx.Err() != nil {
		return timedOut, tail(printed(text), 4000)
	}
	return verdictOf(text, err == nil), tail(printed(text), 4000)
}

// tail returns the end of a text.
func tail(text string, n int) string {
	if len(text) > n {
		return "..." + text[len(text)-n:]
	}
	return text
}
