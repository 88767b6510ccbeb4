package subprocess

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/lockstep-iac/lockstep/functions/comment"
	"github.com/lockstep-iac/lockstep/functions/confine"
	"github.com/lockstep-iac/lockstep/functions/pipeline/jobs"
	"github.com/lockstep-iac/lockstep/functions/project/requirements"
)

// ErrNoTool is the error of a function [Engine.Tool] whose toolbox does not have the tool.
var ErrNoTool = errors.New("the toolbox does not have it")

// Step runs a step in a process of its own. It is a jobs.StepFunc. The program is a child of that process, in a cell:
//   - It reads the checkout, and writes into it only on "generate".
//   - It has no network and no credentials, unless the base branch says so.
//   - It ends with all its descendants, at the latest at the step's time limit.
func (e *Engine) Step(ctx context.Context, run jobs.StepRun) (jobs.StepResult, error) {
	out := jobs.StepResult{Name: run.Name, On: run.On, ID: run.ID(), Required: run.Required, Outcome: comment.StepNotStarted}
	if run.Problem != "" {
		out.Problem = run.Problem
		return out, nil
	}
	tool, problem, err := e.stepTool(ctx, run)
	if err != nil || problem != "" {
		out.Problem = problem
		return out, err
	}
	before, err := e.written(run)
	if err != nil {
		return out, err
	}
	c := e.call(order{Action: steps, Job: run.Job, Step: &run, Tool: tool, Without: e.without})
	began := time.Now()
	r, err := c.do(ctx)
	if dead := asDeath(err); dead != nil {
		out.Outcome, out.Took, out.Problem = comment.StepLimited, time.Since(began), c.clean(dead.Why)
		return out, nil
	}
	if err == nil && r.Step == nil {
		err = errShape
	}
	if err != nil {
		return out, fmt.Errorf("run the step %s of %s in %s: %w", run.Name, run.Job.Project, run.Job.Repo, err)
	}
	// Nothing but the result of the program comes from the child.
	out.Outcome, out.Exit, out.Took, out.Problem, out.Total = r.Step.Outcome, r.Step.Exit, r.Step.Took, c.clean(r.Step.Problem), r.Step.Total
	out.Redact, out.Output, out.Errors = c.clean, r.Step.Output, r.Step.Errors
	after, err := e.written(run)
	if err != nil { // The program has made something that nobody can read. Another attempt would do the same.
		out.Outcome, out.Problem = comment.StepLimited, c.clean(err.Error())
		return out, nil
	}
	for _, name := range changedFiles(before, after) {
		out.Wrote = append(out.Wrote, c.clean(name))
	}
	return out, nil
}

// A stamp changes whenever a file is written. A program can set the time of a file, but not the time of its change, which
// the kernel sets.
type stamp struct {
	size          int64
	mode          fs.FileMode
	inode         uint64
	time, changed time.Time
}

// written returns the stamps of all files in the checkout of a step that may write there; nil for any other step. It returns
// the error of [stamps].
func (e *Engine) written(run jobs.StepRun) (map[string]stamp, error) {
	if run.On != requirements.Generate {
		return nil, nil
	}
	return stamps(run.Job.Checkout)
}

// stamps returns the stamps of all files in a checkout. It returns an error, for people, if anything else is in the
// checkout, such as a named pipe: a process that reads a named pipe waits until somebody writes into it.
func stamps(checkout string) (map[string]stamp, error) {
	out := map[string]stamp{}
	err := fs.WalkDir(os.DirFS(checkout), ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		if d.Type()&^fs.ModeSymlink != 0 {
			return fmt.Errorf("the program has made %.*s, which is no regular file", maxName, name)
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		var status unix.Stat_t
		if err := unix.Lstat(filepath.Join(checkout, filepath.FromSlash(name)), &status); err != nil {
			return fmt.Errorf("%.*s: %w", maxName, name, err)
		}
		changed := time.Unix(status.Ctim.Unix())
		out[name] = stamp{info.Size(), info.Mode(), status.Ino, info.ModTime(), changed}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("its files cannot be read: %w", err)
	}
	return out, nil
}

// maxName is the length of a file's name in an error, in bytes.
const maxName = 300

// changedFiles returns the names that have different stamps, or a stamp on one side only. They are sorted.
func changedFiles(before, after map[string]stamp) (names []string) {
	for name, s := range after {
		if before[name] != s {
			names = append(names, name)
		}
	}
	for name := range before {
		if _, ok := after[name]; !ok {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// stepTool returns the path of a step's program: a tool, or a program of the image in which this process runs. If
// there is none, problem is the reason.
func (e *Engine) stepTool(ctx context.Context, run jobs.StepRun) (path, problem string, err error) {
	name := run.Program[0]
	if run.OfImage() {
		if e.Image == "" {
			return "", fmt.Sprintf("the program %s has to be in an image, and this project is not planned or applied in one: add image and runner to its environment on the base branch, or name a tool", name), nil
		}
		if info, err := os.Stat(name); err != nil || !info.Mode().IsRegular() {
			return "", fmt.Sprintf("the image %s does not have the program %s: build the image with it, or correct the path", e.Image, name), nil
		}
		return name, "", nil
	}
	return e.tool(ctx, run.Job, name, run.Digest)
}

// tool returns the path of a tool, whose checksum it has compared. If there is none, problem is the reason.
func (e *Engine) tool(ctx context.Context, j jobs.Job, name, digest string) (path, problem string, err error) {
	if e.Tool == nil {
		return "", "steps cannot run here", nil
	}
	path, err = e.Tool(ctx, j, digest)
	if errors.Is(err, ErrNoTool) {
		return "", fmt.Sprintf("the toolbox does not have the tool %s with the digest sha256:%s: run `lockstep toolbox add %[1]s FILE` with the file that has this digest", name, digest), nil
	}
	if err != nil {
		return "", "", fmt.Errorf("get the tool %s: %w", name, err)
	}
	got, err := e.sums.of(path)
	if err != nil {
		return "", "", fmt.Errorf("read the tool %s: %w", name, err)
	}
	if got != digest {
		return "", fmt.Sprintf("the toolbox's file for the tool %s has the digest sha256:%s, and lockstep.hcl names sha256:%s: store the right file once more with `lockstep toolbox add %[1]s FILE`", name, got, digest), nil
	}
	return path, "", nil
}

// sums caches the checksums of tools, which can have a hundred megabytes. The kernel sets the time of a file's last change
// whenever its content changes, and no program can set it.
type sums struct {
	mu    sync.Mutex
	known map[fileID]string
}

// A fileID identifies the content of a file on this machine.
type fileID struct {
	dev, ino uint64
	size     int64
	changed  time.Time
}

// settled is how long ago a file must have been changed for its checksum to be cached. Two changes can have the same time
// if they follow each other within milliseconds.
const settled = 2 * time.Second

// of returns the SHA-256 checksum of a file, in hexadecimal digits.
func (s *sums) of(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	var status unix.Stat_t
	if err := unix.Fstat(int(f.Fd()), &status); err != nil {
		return "", err
	}
	id := fileID{uint64(status.Dev), status.Ino, status.Size, time.Unix(status.Ctim.Unix())}
	s.mu.Lock()
	defer s.mu.Unlock()
	if sum, ok := s.known[id]; ok {
		return sum, nil
	}
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", err
	}
	sum := hex.EncodeToString(h.Sum(nil))
	if time.Since(id.changed) > settled {
		if s.known == nil {
			s.known = map[fileID]string{}
		}
		s.known[id] = sum
	}
	return sum, nil
}

// These limit what is kept of a program's output, in bytes. Results in machine-readable form can be large; the standard
// error is for people.
const (
	maxOutput = 32 << 20
	maxErrors = 64 << 10
)

// step runs the program of a step, in a child.
func (c *Child) step(ctx context.Context) (*jobs.StepResult, error) {
	run, out := c.order.Step, &jobs.StepResult{Outcome: comment.StepNotStarted}
	place, err := c.stepPlace(run)
	if err != nil {
		return nil, err
	}
	env, err := c.stepEnv(ctx, run)
	if err != nil {
		return nil, err
	}
	cell, err := confine.NewCell(place.cell(c, run))
	if err != nil {
		out.Problem = fmt.Sprintf("the program cannot be confined on this machine: %s", err)
		return out, nil
	}
	if _, err := c.ask(question{Kind: isProtection, Protection: cell.Protection().Lines()}); err != nil {
		return nil, err
	}
	return program(ctx, cell, &exec.Cmd{Path: c.order.Tool, Args: place.arguments(run), Dir: place.dir, Env: env}, time.Duration(run.Timeout)*time.Second)
}

// program runs a program in a cell, for at most the time limit. The error is that of ctx.
func program(ctx context.Context, cell *confine.Cell, cmd *exec.Cmd, limit time.Duration) (*jobs.StepResult, error) {
	out := &jobs.StepResult{Outcome: comment.StepNotStarted}
	stdout, stderr := &limited{room: maxOutput}, &limited{room: maxErrors}
	cmd.Stdout, cmd.Stderr, cmd.WaitDelay = stdout, stderr, time.Second
	began := time.Now()
	if err := cell.Start(cmd); err != nil {
		out.Problem = fmt.Sprintf("the program could not be started: %s", err)
		return out, nil
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	var err error
	select {
	case err = <-ended:
	case <-time.After(limit):
		out.Outcome, out.Problem = comment.StepTimedOut, fmt.Sprintf("the program did not end within its time limit of %s", limit)
	case <-ctx.Done():
		err = ctx.Err()
	}
	out.Took = time.Since(began)
	if out.Outcome == comment.StepTimedOut || ctx.Err() != nil {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) // Other processes that the program has started end with this process.
		<-ended
		if ctx.Err() != nil {
			return nil, err
		}
	}
	out.Output, out.Total, out.Errors = stdout.data, stdout.total, stderr.data
	if out.Outcome == comment.StepTimedOut {
		return out, nil
	}
	exit := new(exec.ExitError)
	switch status, _ := cmd.ProcessState.Sys().(syscall.WaitStatus); {
	case err == nil || errors.Is(err, exec.ErrWaitDelay):
		out.Outcome = comment.StepPassed
	case errors.As(err, &exit) && status.Signaled():
		out.Outcome, out.Problem = comment.StepLimited, fmt.Sprintf("the program was ended by the signal %q", status.Signal())
	case errors.As(err, &exit):
		out.Outcome, out.Exit = comment.StepFailed, exit.ExitCode()
	default:
		return nil, err
	}
	return out, nil
}

// stepEnv returns the environment variables of a step's program.
func (c *Child) stepEnv(ctx context.Context, run *jobs.StepRun) ([]string, error) {
	home := filepath.Join(c.Tmp, "home")
	if err := os.Mkdir(home, 0o700); err != nil {
		return nil, err
	}
	var env []string
	if run.PlanRole {
		own, err := c.Environment(ctx, run.Job)
		if err != nil {
			return nil, err
		}
		env = own
	}
	for name, value := range run.Env {
		env = append(env, name+"="+value)
	}
	slices.Sort(env)
	// The last of two values counts.
	return append(env, "HOME="+home, "TMPDIR="+c.Tmp, "PATH="), nil
}

// A stepPlace has the paths for a step's program.
type stepPlace struct{ checkout, dir, files, plan string }

// stepPlace writes the files of a step.
func (c *Child) stepPlace(run *jobs.StepRun) (stepPlace, error) {
	checkout := c.order.Job.Checkout
	p := stepPlace{checkout: checkout, dir: filepath.Join(checkout, filepath.FromSlash(run.Job.Dir)), files: filepath.Join(c.Tmp, "files"), plan: filepath.Join(c.Tmp, "plan.json")}
	if err := os.Mkdir(p.files, 0o700); err != nil {
		return p, err
	}
	root, err := os.OpenRoot(p.files)
	if err != nil {
		return p, err
	}
	defer root.Close()
	for name, data := range run.Base {
		name = filepath.FromSlash(name)
		if err := root.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			return p, err
		}
		if err := root.WriteFile(name, data, 0o600); err != nil {
			return p, err
		}
	}
	if run.Plan == nil {
		return p, nil
	}
	return p, os.WriteFile(p.plan, run.Plan, 0o600)
}

// cell returns the rights of a step's program.
func (p stepPlace) cell(c *Child, run *jobs.StepRun) confine.CellSpec {
	v := confine.View{Read: []string{c.order.Tool}, Tmp: c.Tmp}
	if run.On == requirements.Generate {
		v.Write = []string{p.checkout}
	} else {
		v.Read = append(v.Read, p.checkout)
	}
	s := confine.CellSpec{View: v, Ports: c.order.Ports, Offline: !run.Network}
	s.Without.Namespaces, s.Without.Landlock = c.order.Without.Namespaces, c.order.Without.Landlock
	return s
}

// arguments returns the program's arguments. A value that replaces a placeholder begins with a slash, or has only
// letters, digits and the characters _ . -, so no value from a pull request becomes an option of the program.
func (p stepPlace) arguments(run *jobs.StepRun) []string {
	values := strings.NewReplacer("{dir}", p.dir, "{checkout}", p.checkout, "{files}", p.files, "{plan_json}", p.plan,
		"{workspace}", run.Job.Workspace, "{head_sha}", run.Job.Head, "{base_sha}", run.BaseSHA)
	out := slices.Clone(run.Program)
	for i := range out[1:] {
		out[i+1] = values.Replace(out[i+1])
	}
	return out
}

// limited is a writer that keeps the beginning of what is written, and counts the rest.
type limited struct {
	room  int
	data  []byte
	total int64
}

// Write implements io.Writer.
func (l *limited) Write(p []byte) (int, error) {
	l.total += int64(len(p))
	if room := l.room - len(l.data); room > 0 {
		l.data = append(l.data, p[:min(room, len(p))]...)
	}
	return len(p), nil
}
