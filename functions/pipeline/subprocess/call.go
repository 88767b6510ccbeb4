package subprocess

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"

	"github.com/lockstep-iac/lockstep/functions/comment"
	"github.com/lockstep-iac/lockstep/functions/confine"
	"github.com/lockstep-iac/lockstep/functions/pipeline/jobs"
	"github.com/lockstep-iac/lockstep/functions/project/requirements"
)

const (
	// grace is how long a child may take to stop after it was told to. The child must finish changes in
	// progress, and must release its lock.
	grace = 8 * time.Second
	// before is how long before the end of its own time the parent tells a child to stop. The parent needs this
	// time to report the result.
	before = 10 * time.Second
	// letGoTime is the time limit for releasing the lock of a process that died.
	letGoTime = 20 * time.Second
)

// lingering is how long a child may take to end after its last message.
const lingering = 2 * time.Second

// errShape is the error about a message of a child that breaks the protocol.
var errShape = errors.New("the process of the run did not keep to the protocol")

// A call is one child, from its order to its end.
type call struct {
	engine *Engine
	order  order
	permit func(jobs.BeforeApply) jobs.Permit

	permitted bool // the child was allowed to apply
	ended     bool // the child has reported the outcome of the apply
	again     bool // the child was asked to plan again
	locked    bool // the child may have a lock
	programs  bool // the child may have started programs
	fetched   int
	secrets   map[string]string       // of the job, once the child has asked for them
	session   aws.CredentialsProvider // of the job's state, once the child has asked for them
	keys      aws.CredentialsProvider // for the state's keys
	process   *confine.Process
	in, out   *os.File // our ends of the pipes
	place     *os.File
	said      lastWords
	far       comment.Progress
	told      time.Time // when its progress was last passed on
	last      bool      // the child has sent its last report of progress
	early     bool      // the child was asked to stop before ctx ended
	forced    bool      // the child was killed, because it did not stop
}

func (e *Engine) call(o order) *call {
	c := &call{engine: e, order: o}
	c.programs = !c.rights()
	return c
}

// do makes the child carry out the order. The error is a *jobs.DeathError if the child died by itself or at a
// limit. If the child was stopped because ctx ended, do returns the error of ctx.
func (c *call) do(ctx context.Context) (result, error) {
	if err := ctx.Err(); err != nil {
		return result{}, context.Cause(ctx)
	}
	dir, err := os.MkdirTemp(c.engine.Scratch, "*")
	if err != nil {
		return result{}, fmt.Errorf("make a directory for the run: %w", err)
	}
	defer remove(dir)
	if err := c.start(ctx, dir); err != nil {
		return result{}, err
	}
	defer c.place.Close()
	stopped := make(chan struct{})
	go c.stopper(ctx, stopped)
	r, err := c.converse(ctx)
	c.in.Close()
	c.out.Close()
	if err != nil && !errors.Is(err, errShape) {
		select {
		case <-c.process.Done(): // The child has died by itself. The reason of its death is reported, not the error of the conversation.
		case <-time.After(lingering):
		}
	}
	if err != nil {
		c.process.Kill()
	}
	end := c.process.Wait()
	close(stopped)
	switch {
	case err == nil && r.Error != nil && ctx.Err() != nil:
		return result{}, context.Cause(ctx)
	case err == nil && r.Error != nil && c.early:
		// The child was told to stop because its time is almost over. Another attempt would have no more time.
		return result{}, c.death(end)
	case err == nil:
		if r.Error != nil {
			r.Error.Text = c.clean(r.Error.Text) // it goes into logs
		}
		return r, r.Error.err()
	case errors.Is(err, errShape):
		return result{}, err
	case ctx.Err() != nil && !c.forced:
		return result{}, context.Cause(ctx)
	}
	return result{}, c.death(end)
}

// start makes the run's directories and starts the child.
func (c *call) start(ctx context.Context, dir string) error {
	e, o := c.engine, &c.order
	// Paths must be the same with and without namespaces, and the path may contain links.
	dir, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return err
	}
	o.Tmp, o.Fetched = filepath.Join(dir, "t"), filepath.Join(dir, "fetched")
	if err := errors.Join(os.Mkdir(o.Tmp, 0o700), os.Mkdir(o.Fetched, 0o700), e.complete(o)); err != nil {
		return err
	}
	if u := o.Job.Unit; u != nil && o.Tool == "" {
		if o.Tool, o.NoTool, err = e.tool(ctx, o.Job, requirements.TerragruntTool, u.Digest); err != nil {
			return err
		}
	}
	if o.Job.Checkout != "" {
		if o.Job.Checkout, err = filepath.EvalSymlinks(o.Job.Checkout); err != nil {
			return err
		}
	}
	var env []string
	if e.Environment != nil && o.Job.Checkout != "" {
		if env, err = e.Environment(ctx, o.Job); err != nil {
			return fmt.Errorf("make the run's environment: %w", err)
		}
	}
	if o.Job.Snapshot != nil {
		env = unprivilegedEnv(env)
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	if c.place, err = os.OpenFile(filepath.Join(dir, "place"), os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600); err != nil {
		return err
	}
	theirIn, out, err := os.Pipe()
	if err != nil {
		return err
	}
	defer theirIn.Close()
	in, theirOut, err := os.Pipe()
	if err != nil {
		return errors.Join(err, out.Close())
	}
	defer theirOut.Close()
	c.in, c.out = in, out
	c.process, err = confine.Start(confine.Spec{
		Path: self, Env: append(withoutTmp(env), "TMPDIR="+o.Tmp), Dir: o.Tmp,
		Files: []*os.File{theirIn, theirOut, c.place}, Stderr: &c.said,
		// Actions that only read files start no programs, so they need no namespaces, which cost time.
		Without: c.order.Without.Namespaces || c.order.Action == discovers || c.order.Action == rehearses || c.order.Action == inputs || c.order.Action == compares || c.order.Action == unlocks || c.order.Action == recovers,
		Limits:  c.limits(), Dirs: []string{dir, o.Job.Checkout},
	})
	if err != nil {
		return errors.Join(err, in.Close(), out.Close(), c.place.Close())
	}
	return nil
}

// limits returns the limits of the run. An apply has no limit of time. Reading files may take a fraction of the
// time of a plan.
func (c *call) limits() confine.Limits {
	l := c.engine.Limits
	switch c.order.Action {
	case applies:
		l.Wall = 0
	case discovers, rehearses, inputs, compares, unlocks, recovers:
		l.Wall, l.CPU = l.Wall/reading, l.CPU/reading
	}
	return l
}

// reading is the divisor for the time limit for reading files. That limit is a quarter of the time limit of a
// run.
const reading = 4

func withoutTmp(env []string) []string {
	var out []string
	for _, kv := range env {
		if !strings.HasPrefix(kv, "TMPDIR=") {
			out = append(out, kv)
		}
	}
	return out
}

// stopper tells the child to stop when ctx ends, or shortly before its deadline. It kills the child if the
// child does not stop.
func (c *call) stopper(ctx context.Context, ended <-chan struct{}) {
	var early <-chan time.Time
	if end, ok := ctx.Deadline(); ok && c.order.Action != applies {
		left := time.Until(end)
		reserve := before
		if left < before { // a function with little time still needs some of it for the work
			reserve = left / 4
		}
		early = time.After(left - reserve)
	}
	select {
	case <-ended:
		return
	case <-early:
		c.early = true
	case <-ctx.Done():
	}
	c.process.Stop()
	select {
	case <-ended:
	case <-time.After(c.patience()):
		c.forced = true
		c.process.Kill()
	}
}

// patience returns how long the child may take to end after it was told to. An apply gets all the remaining
// time to finish its calls. If a call is not finished by then, the journal shows it.
func (c *call) patience() time.Duration {
	if c.order.Action != applies {
		return grace
	}
	if end := c.order.Job.Times.End; !end.IsZero() {
		return min(applyGrace, time.Until(end))
	}
	return applyGrace
}

// outOfTime reports whether an apply that may have changed something was killed because its time was over.
// Another process can continue it.
func (c *call) outOfTime() bool { return c.order.Action == applies && c.permitted && c.forced }

// applyGrace is how long an apply without a time limit may take to finish its changes in progress after it was
// told to stop. An apply on a machine has no time limit, unlike an apply in a function.
const applyGrace = 30 * time.Minute

// maxWords limits how much of a child's standard error is kept: the beginning, where the runtime writes the
// reason.
const maxWords = 4 << 10

// lastWords is a writer that keeps the beginning of what is written, up to maxWords bytes.
type lastWords struct{ text []byte }

// Write implements io.Writer.
func (w *lastWords) Write(p []byte) (int, error) {
	if room := maxWords - len(w.text); room > 0 {
		w.text = append(w.text, p[:min(room, len(p))]...)
	}
	return len(p), nil
}

// where returns the place that the child recorded last.
func (c *call) where() string {
	text := make([]byte, maxPlace+1)
	n, _ := c.place.ReadAt(text, 0)
	place, _, _ := bytes.Cut(text[:n], []byte("\n"))
	return strings.ToValidUTF8(string(place), "")
}
