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

// commandGrace is the time that the output of a command that has ended may stay open, as its
// background processes keep it.
const commandGrace = 10 * time.Second

// killedGrace is the same for a killed command.
const killedGrace = 100 * time.Millisecond

// RunCommand runs the command of a local-exec provisioner in a directory, as a
// [provisioning.Runner] does; the caller has resolved c.Dir. environ is its whole environment, but
// for the additions of c. When ctx ends, the command is killed at once: the caller may have only
// seconds left to store the object's status.
func RunCommand(ctx context.Context, dir string, environ []string, c provisioning.Command, output func(line string)) error {
	return Commands{Dir: dir, Environ: environ}.Run(ctx, c, output)
}

// Commands run commands of local-exec provisioners in a directory.
type Commands struct {
	Dir     string
	Environ []string
	// Begin starts a command; nil: its own Start does.
	Begin func(*exec.Cmd) error
}

// Run is [RunCommand].
func (r Commands) Run(ctx context.Context, c provisioning.Command, output func(line string)) error {
	cmd := exec.CommandContext(ctx, c.Args[0], c.Args[1:]...)
	cmd.Dir = r.Dir
	cmd.Env = append(append([]string{}, r.Environ...), c.Env...)
	lines := &lineWriter{line: output}
	cmd.Stdout, cmd.Stderr = lines, lines // one writer: used by one goroutine at a time
	cmd.WaitDelay = commandGrace
	ended := make(chan error, 1)
	go func() { ended <- r.run(cmd) }()
	var err error
	select {
	case err = <-ended:
	case <-ctx.Done():
		// Its background processes may hold the output open, which is not waited for.
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

// run starts a command, and waits for its end.
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

// maxLine is how long a line of output may become before it is shown in parts, in bytes.
const maxLine = 64 << 10

// A lineWriter calls line for each line that is written to it, without the line break.
// It may be ended while somebody still writes.
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

// end passes on the last line, which has no line break. Nothing is passed on after it.
func (w *lineWriter) end() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.ended = true
	if len(w.rest) > 0 {
		w.line(string(w.rest))
	}
}
