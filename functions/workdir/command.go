package workdir

import (
	"bytes"
	"context"
	"errors"
	"os/exec"
	"sync"
	"time"

	"github.com/lockstep-iac/lockstep/engine/provisioning"
)

// commandGrace is how long RunCommand waits for the output of background processes after a command has ended.
const commandGrace = 10 * time.Second

// killedGrace is how long RunCommand waits for the output of background processes after the command was killed.
const killedGrace = 100 * time.Millisecond

// RunCommand runs the command of a local-exec provisioner in a directory; see [provisioning.Runner]. The caller
// has resolved c.Dir. environ is the command's environment, to which c.Env is added. When ctx ends, the command
// is killed at once, because the caller may have only seconds left to store the object's status.
func RunCommand(ctx context.Context, dir string, environ []string, c provisioning.Command, output func(line string)) error {
	return Commands{Dir: dir, Environ: environ}.Run(ctx, c, output)
}

// Commands runs commands of local-exec provisioners in a directory.
type Commands struct {
	Dir     string
	Environ []string
	// Begin starts a command; nil means its Start method.
	Begin func(*exec.Cmd) error
}

// Run runs a command as [RunCommand] does.
func (r Commands) Run(ctx context.Context, c provisioning.Command, output func(line string)) error {
	cmd := exec.CommandContext(ctx, c.Args[0], c.Args[1:]...)
	cmd.Dir = r.Dir
	cmd.Env = append(append([]string{}, r.Environ...), c.Env...)
	lines := &lineWriter{line: output}
	cmd.Stdout, cmd.Stderr = lines, lines // Package exec uses one writer for both outputs from only one goroutine at a time.
	cmd.WaitDelay = commandGrace
	ended := make(chan error, 1)
	go func() { ended <- r.run(cmd) }()
	var err error
	select {
	case err = <-ended:
	case <-ctx.Done():
		// Background processes of the command may keep the output open. Run does not wait for them.
		select {
		case err = <-ended:
		case <-time.After(killedGrace):
			err = ctx.Err()
		}
	}
	lines.end()
	if errors.Is(err, exec.ErrWaitDelay) {
		return nil
	}
	if ctx.Err() != nil && err != nil {
		return context.Cause(ctx)
	}
	return err
}

// run starts a command, and waits until it has ended.
func (r Commands) run(cmd *exec.Cmd) error {
	begin := r.Begin
	if begin == nil {
		begin = (*exec.Cmd).Start
	}
	if err := begin(cmd); err != nil {
		return err
	}
	return cmd.Wait()
}

// maxLine is the maximum length of a line of output, in bytes. A longer line is shown in parts.
const maxLine = 64 << 10

// A lineWriter calls line for each line written to it, without the line break. It is safe to call end during a
// Write.
type lineWriter struct {
	line func(string)

	mu    sync.Mutex
	rest  []byte
	ended bool
}

// Write implements io.Writer. It never fails.
func (w *lineWriter) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.ended {
		return len(p), nil
	}
	w.rest = append(w.rest, p...)
	for {
		i := bytes.IndexByte(w.rest, '\n')
		if i < 0 && len(w.rest) >= maxLine {
			w.line(string(w.rest))
			w.rest = nil
		}
		if i < 0 {
			return len(p), nil
		}
		w.line(string(bytes.TrimSuffix(w.rest[:i], []byte("\r"))))
		w.rest = w.rest[i+1:]
	}
}

// end passes on the last line if the line has no line break. After end, no more lines are passed on.
func (w *lineWriter) end() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.ended = true
	if len(w.rest) > 0 {
		w.line(string(w.rest))
	}
}
