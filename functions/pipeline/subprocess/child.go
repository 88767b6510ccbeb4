package subprocess

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"

	"github.com/lockstep-iac/lockstep/engine/budget"
	"github.com/lockstep-iac/lockstep/functions/comment"
	"github.com/lockstep-iac/lockstep/functions/confine"
	"github.com/lockstep-iac/lockstep/functions/pipeline/jobs"
	"github.com/lockstep-iac/lockstep/functions/pipeline/policytrial"
	"github.com/lockstep-iac/lockstep/functions/pipeline/runs"
	"github.com/lockstep-iac/lockstep/functions/project/requirements"
)

// These are the open files of a child.
const (
	orders    = confine.FirstFile + iota // read by the child
	questions                            // written by the child
	places                               // the place of the evaluation, which the parent reads
)

// A Child is the process of one run, seen from inside. Many goroutines may use it.
type Child struct {
	// Settings are the parent's settings for the Maker.
	Settings json.RawMessage
	// Memory is the data that an earlier child passed to [Child.Remember]; it may be empty.
	Memory []byte
	// Tmp is the run's own directory.
	Tmp string
	// Place returns the part of the configuration that is being evaluated, for the report if the child dies. It
	// is called many times a second, from another goroutine. nil means that the place is unknown.
	Place func() string

	order   order
	keeps   int      // the number of packages handed to Keep
	show    []string // further files that programs may read
	mu      sync.Mutex
	in, out *os.File
	cell    *confine.Cell
	celled  sync.Mutex
}

// A Maker makes the engine that does the work in a child.
type Maker func(*Child) (jobs.Engine, error)

// Main must be the first call in each main function. In a process that is a child of an [Engine], Main does the
// work and does not return. In any other process it returns at once.
func Main(make Maker) {
	answerTerragrunt()
	confine.Probe()
	if !confine.Confined() {
		return
	}
	code := 0
	if err := work(make); err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	confine.Leave(code)
}

func work(make Maker) error {
	if err := confine.Enter(); err != nil {
		return err
	}
	// The first signal asks the child to stop.
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	c := &Child{in: os.NewFile(orders, "orders"), out: os.NewFile(questions, "questions")}
	for fd := orders; fd <= places; fd++ {
		syscall.CloseOnExec(fd)
	}
	if err := receive(c.in, &c.order); err != nil {
		return fmt.Errorf("read the order: %w", err)
	}
	c.Settings, c.Memory, c.Tmp = c.order.Settings, c.order.Memory, c.order.Tmp
	if limit := c.order.Limit; limit > 0 {
		b := budget.Pipeline(limit)
		c.Place, ctx = b.Place, budget.With(ctx, b)
	}
	r := c.do(ctx, make)
	c.mu.Lock()
	defer c.mu.Unlock()
	return send(c.out, question{Kind: isResult, Result: r})
}

// do reads the order of the parent, and carries it out.
func (c *Child) do(ctx context.Context, make Maker) *result {
	r := &result{}
	var err error
	switch c.order.Action {
	case discovers:
		var d jobs.Discovered
		d, err = jobs.LocalProjects{}.Discover(ctx, c.order.Dir)
		r.Discovered = &d
	case rehearses:
		r.Rehearsed, err = policytrial.Changed(ctx, c.order.Dir, c.order.Policies)
	case inputs:
		r.Tree, err = jobs.LocalProjects{}.Inputs(ctx, c.order.Dir, c.order.Run, c.order.Scope)
	case compares:
		var d jobs.Compared
		d, err = jobs.LocalProjects{}.Touched(ctx, c.order.Compare)
		r.Compared = &d
	case looks:
		_, err = c.inside()
	case steps:
		r.Step, err = c.step(ctx)
	case units:
		r.Units, err = c.findUnits(ctx)
	case prepares:
		var u jobs.PreparedUnit
		u, err = c.PrepareUnit(ctx, c.order.Job, c.order.Source, c.order.Outputs)
		r.Unit = &u
	default:
		err = c.engine(ctx, make, r)
	}
	r.Error = failed(err)
	return r
}

func (c *Child) engine(ctx context.Context, make Maker, r *result) error {
	e, err := make(c)
	if err != nil {
		return err
	}
	go c.tell(ctx)
	if c.order.Action == plans || c.order.Action == applies {
		c.order.Job.Progress = func(p comment.Ongoing) { _, _ = c.ask(question{Kind: isProgress, Progress: p}) }
	}
	switch c.order.Action {
	case plans:
		var p jobs.PlanResult
		p, err = e.Plan(ctx, c.order.Job)
		r.Plan = &p
	case applies:
		var o jobs.Outcome
		c.order.Job.Ended = func(o jobs.Outcome) error {
			_, err := c.ask(question{Kind: isEnded, Outcome: o})
			return err
		}
		o, err = e.Apply(ctx, c.order.Job, c.order.Plan, c.permit)
		r.Outcome = &o
	case checks:
		var got jobs.Checked
		got, err = e.Check(ctx, c.order.Job, c.order.Plan)
		r.Checked = &got
	case snapshots:
		var s jobs.Snapshot
		s, err = e.Snapshot(ctx, c.order.Job)
		r.Snapshot = &s
	case tests:
		var t comment.Tests
		t, err = e.Test(ctx, c.order.Job)
		r.Tests = &t
	case queries:
		var q comment.Queried
		q, r.Problem, err = e.Query(ctx, c.order.Job, c.order.Room)
		r.Queried = &q
	case shows:
		var s comment.Shown
		s, r.Problem, err = e.Show(ctx, c.order.Job, c.order.Command)
		r.Shown = &s
	case recovers:
		var rec comment.Recovered
		rec, err = e.Recover(ctx, c.order.Job)
		r.Recovered = &rec
	case unlocks:
		var u jobs.Unlocked
		u, err = e.Unlock(ctx, c.order.Job)
		r.Unlocked = &u
	default:
		err = fmt.Errorf("there is no action %q", c.order.Action)
	}
	return err
}

// tellEvery is how often a child records its place.
const tellEvery = 20 * time.Millisecond

// maxPlace is the maximum length of a place in bytes.
const maxPlace = 1000

// tell records the place of the evaluation in a file. The parent can read the file after the death of this
// process. tell stops when ctx ends, because the report needs the place at the deadline, not a later one.
func (c *Child) tell(ctx context.Context) {
	if c.Place == nil {
		return
	}
	file := os.NewFile(places, "places")
	last := ""
	for ctx.Err() == nil {
		if now := c.Place(); now != last && ctx.Err() == nil {
			last = now
			now = now[:min(len(now), maxPlace)]
			// The place is padded to its maximum length, so that one write also overwrites the rest of a longer
			// place.
			line := append([]byte(now), '\n')
			file.WriteAt(append(line, make([]byte, maxPlace+1-len(line))...), 0)
		}
		time.Sleep(tellEvery)
	}
}

// ask sends a question to the parent, and returns its answer.
func (c *Child) ask(q question) (answer, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	var a answer
	if err := send(c.out, q); err != nil {
		return a, fmt.Errorf("ask for the %s: %w", q.Kind, err)
	}
	if err := receive(c.in, &a); err != nil {
		return a, fmt.Errorf("wait for the %s: %w", q.Kind, err)
	}
	return a, a.Error.err()
}

func (c *Child) permit(now jobs.BeforeApply) jobs.Permit {
	a, err := c.ask(question{Kind: isPermit, Present: now})
	if err != nil {
		return jobs.Refused
	}
	return a.Permit
}

// Environment returns the environment of the job's programs, which comes from the parent. TMPDIR in it is the
// run's own directory.
func (c *Child) Environment(context.Context, jobs.Job) ([]string, error) {
	a, err := c.ask(question{Kind: isEnvironment})
	if err != nil {
		return nil, err
	}
	return append(a.Env, "TMPDIR="+c.Tmp), nil
}

// Secrets returns the secrets of the job's environment, by the names of variables.
func (c *Child) Secrets(context.Context, jobs.Job) (map[string]string, error) {
	a, err := c.ask(question{Kind: isSecrets})
	return a.Secrets, err
}

// Sessions returns the credentials for the job's state, or for the state's keys. The job's access decides
// between the two. The credentials come from the parent. If the parent has none, Sessions returns nil, because
// the credentials are then in the environment.
func (c *Child) Sessions(ctx context.Context, j jobs.Job) (aws.CredentialsProvider, error) {
	if !c.order.Narrowed {
		return nil, nil
	}
	kind := isCredentials
	if j.Access == jobs.Keys {
		kind = isKeys
	}
	p := aws.NewCredentialsCache(aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
		a, err := c.ask(question{Kind: kind})
		if err == nil && a.Credentials == nil {
			err = errors.New("the answer has no credentials")
		}
		if err != nil {
			return aws.Credentials{}, err
		}
		return *a.Credentials, nil
	}))
	_, err := p.Retrieve(ctx)
	return p, err
}

// Rescue asks the parent to store a state, because the backend of the state has refused it. Rescue returns
// the address of the stored file.
func (c *Child) Rescue(_ context.Context, _ jobs.Job, name string, state []byte) (string, error) {
	a, err := c.ask(question{Kind: isRescue, Name: name, Data: state})
	return a.Text, err
}

// Fetch requests a repository from the parent, and moves the files to dir, which exists and is empty. The error
// is an *[Absent] if this job cannot have the repository.
func (c *Child) Fetch(_ context.Context, owner, name, ref, dir string) error {
	a, err := c.ask(question{Kind: isFetch, Owner: owner, Repo: name, Ref: ref})
	if err != nil {
		return err
	}
	return errors.Join(os.Remove(dir), os.Rename(a.Text, dir))
}

// Gate makes the parent ask a gate of the job about a plan's JSON.
func (c *Child) Gate(_ context.Context, _ jobs.Job, g requirements.Gate, plan []byte) (runs.Judgement, error) {
	a, err := c.ask(question{Kind: isGate, Gate: g.Name, Data: plan})
	if err != nil || a.Judgement == nil {
		return runs.Judgement{}, cmp.Or(err, errShape)
	}
	return *a.Judgement, nil
}

// Remember asks the parent to store data for later children.
func (c *Child) Remember(data []byte) { _, _ = c.ask(question{Kind: isMemory, Data: data}) }

// State tells the parent that the run will now access its state. If the child dies from here on, it may leave a
// lock.
func (c *Child) State() { _, _ = c.ask(question{Kind: isState}) }

// Show lets programs read additional files and directories. It must be called before the programs are started.
func (c *Child) Show(paths ...string) {
	c.celled.Lock()
	defer c.celled.Unlock()
	for _, p := range paths {
		if filepath.IsAbs(p) { // others are settings without a value
			c.show = append(c.show, p)
		}
	}
}

// Begin starts a program in the run's cell (see package confine), which limits what the program can do.
func (c *Child) Begin(cmd *exec.Cmd) error {
	cell, err := c.inside()
	if err != nil {
		return err
	}
	return cell.Start(cmd)
}

// inside returns the run's cell. It creates the cell at the first call.
func (c *Child) inside() (*confine.Cell, error) {
	c.celled.Lock()
	defer c.celled.Unlock()
	if c.cell != nil {
		return c.cell, nil
	}
	write := []string{c.Tmp}
	if c.order.Job.Checkout != "" {
		write[0] = c.order.Job.Checkout
	}
	cell, err := confine.NewCell(confine.CellSpec{
		View:  confine.View{Read: c.show, Write: write, Tmp: c.Tmp},
		Ports: c.order.Ports, Offline: c.order.Job.Snapshot != nil,
	})
	if err != nil {
		return nil, err
	}
	c.cell = cell
	_, err = c.ask(question{Kind: isProtection, Protection: cell.Protection().Lines()})
	return cell, err
}
