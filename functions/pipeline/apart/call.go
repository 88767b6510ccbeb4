package apart

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

	"github.com/lockstep-iac/lockstep/functions/confine"
	"github.com/lockstep-iac/lockstep/functions/pipeline/runs"
)

const (
	// grace is how long a child may go on once it was asked to stop: what it has begun is to
	// come to its end, and its lock to be released.
	grace = 8 * time.Second
	// before is how long before the end of our own time it is asked, so that there is time for
	// saying what became of it.
	before = 10 * time.Second
	// letGoTime is how long releasing the lock of a process that died may take.
	letGoTime = 20 * time.Second
)

// lingering is how long a child that says nothing more may take to be gone.
const lingering = 2 * time.Second

// errShape says that a child has said something that it cannot have meant.
var errShape = errors.New("the process of the run did not keep to the protocol")

// A call is one child, from its order to its end.
type call struct {
	engine *Engine
	order  order
	permit func(runs.StateID) bool

	permitted bool // it was allowed to apply
	locked    bool // it may have a lock
	programs  bool // it may have started some
	fetched   int
	session   aws.CredentialsProvider // of the job's state, once it was asked for
	process   *confine.Process
	in, out   *os.File // ours
	place     *os.File
	said      lastWords
	early     bool // it was asked to stop while ctx had not ended
	forced    bool // it was killed for not stopping
}

func (e *Engine) call(o order) *call { return &call{engine: e, order: o} }

// do has the order carried out. The error is a *jobs.DeathError if the child died by itself or
// at a limit; that of ctx, if it was stopped because of it.
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
		case <-c.process.Done(): // how it died says why
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
		// The next try would have no more time.
		return result{}, c.death(end)
	case err == nil:
		return r, r.Error.err()
	case errors.Is(err, errShape):
		return result{}, err
	case ctx.Err() != nil && !c.forced:
		return result{}, context.Cause(ctx)
	}
	return result{}, c.death(end)
}

// start makes the run's directories, and starts the child.
func (c *call) start(ctx context.Context, dir string) error {
	e, o := c.engine, &c.order
	// Paths are the same with namespaces and without, and links may lead elsewhere.
	dir, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return err
	}
	o.Tmp, o.Fetched = filepath.Join(dir, "t"), filepath.Join(dir, "fetched")
	if err := errors.Join(os.Mkdir(o.Tmp, 0o700), os.Mkdir(o.Fetched, 0o700), e.complete(o)); err != nil {
		return err
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
		// Reading starts no programs, and namespaces take some time.
		Without: c.order.Deed == discovers || c.order.Deed == inputs || c.order.Deed == unlocks,
		Limits:  c.limits(), Dirs: []string{dir, o.Job.Checkout},
	})
	if err != nil {
		return errors.Join(err, in.Close(), out.Close(), c.place.Close())
	}
	return nil
}

// limits are the run's: an apply has begun something, and takes the time that this takes;
// reading files takes a part of what planning may.
func (c *call) limits() confine.Limits {
	l := c.engine.Limits
	switch c.order.Deed {
	case applies:
		l.Wall = 0
	case discovers, inputs, unlocks:
		l.Wall, l.CPU = l.Wall/reading, l.CPU/reading
	}
	return l
}

// reading is what part of a run's time reading its files may take.
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

// stopper asks the child to stop when ctx ends, or shortly before its time does, and kills it
// if it does not.
func (c *call) stopper(ctx context.Context, ended <-chan struct{}) {
	var early <-chan time.Time
	if end, ok := ctx.Deadline(); ok && c.order.Deed != applies {
		early = time.After(time.Until(end) - before)
	}
	select {
	case <-ended:
		return
	case <-early:
		c.early = true
	case <-ctx.Done():
	}
	c.process.Stop()
	limit := grace
	if c.order.Deed == applies {
		limit = applyGrace
	}
	select {
	case <-ended:
	case <-time.After(limit):
		c.forced = true
		c.process.Kill()
	}
}

// applyGrace is how long an apply may take to end what it has begun. A function's own end
// comes earlier; on a machine it is as long as calls of providers take.
const applyGrace = 30 * time.Minute

// maxWords is how much of what a child writes to standard error is kept: the first of it, for
// the runtime says first what is wrong.
const maxWords = 4 << 10

// lastWords keeps the beginning of what is written.
type lastWords struct{ text []byte }

// Write implements io.Writer.
func (w *lastWords) Write(p []byte) (int, error) {
	if room := maxWords - len(w.text); room > 0 {
		w.text = append(w.text, p[:min(room, len(p))]...)
	}
	return len(p), nil
}

// where reads what the child noted last.
func (c *call) where() string {
	text := make([]byte, maxPlace+1)
	n, _ := c.place.ReadAt(text, 0)
	place, _, _ := bytes.Cut(text[:n], []byte("\n"))
	return strings.ToValidUTF8(string(place), "")
}
