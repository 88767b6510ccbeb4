package subprocess

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/aws/aws-sdk-go-v2/aws"

	"github.com/lockstep-iac/lockstep/functions/comment"
	"github.com/lockstep-iac/lockstep/functions/comment/markdown"
	"github.com/lockstep-iac/lockstep/functions/confine"
	"github.com/lockstep-iac/lockstep/functions/pipeline/jobs"
	"github.com/lockstep-iac/lockstep/functions/pipeline/runs"
	"github.com/lockstep-iac/lockstep/functions/project"
	"github.com/lockstep-iac/lockstep/functions/project/requirements"
)

// An Engine does each run in a separate process. The process runs the same program as the parent. The main
// function of that program calls [Main]. Many goroutines may use an Engine. It must not be copied after its
// first use.
type Engine struct {
	// Settings are for the [Maker], as JSON.
	Settings any
	// Environment returns the environment of the child, limited to what the job needs. nil means an empty
	// environment.
	Environment func(context.Context, jobs.Job) ([]string, error)
	// Credentials returns the credentials of the job's state. If it is nil, the child finds them in its
	// environment.
	Credentials func(context.Context, jobs.Job) (aws.CredentialsProvider, error)
	// PluginEnv returns the environment of the job's programs. nil means an empty environment.
	PluginEnv func(context.Context, jobs.Job) ([]string, error)
	// Secrets returns the secrets of the job's environment, by the names of variables; nil means none.
	Secrets func(context.Context, jobs.Job) (map[string]string, error)
	// Gate sends a plan's JSON to a gate of the job, and returns the gate's judgement. If Gate is nil, no gate
	// can be called.
	Gate func(ctx context.Context, j jobs.Job, g requirements.Gate, plan []byte) (runs.Judgement, error)
	// Rescue stores a state that its backend refused, and returns its address, for people.
	Rescue func(ctx context.Context, j jobs.Job, name string, state []byte) (string, error)
	// Fetch unpacks a repository into an empty directory, if the job may have the repository. The error is an
	// *[Absent] if the job may not have the repository, or if the repository does not exist.
	Fetch func(ctx context.Context, j jobs.Job, owner, name, ref, dir string) error
	// Tool returns the path of a file with this SHA-256 checksum, in hexadecimal digits, that runs of steps can execute.
	// The error is [ErrNoTool] if there is none. If Tool is nil, no steps can run.
	Tool func(ctx context.Context, j jobs.Job, digest string) (string, error)
	// Image is the image of the build in which this process runs, if the base branch has named it. Steps can run its
	// programs. "" means that they cannot.
	Image string
	// Packages is the store of providers' packages; nil for none.
	Packages Packages
	// Redact removes Lockstep's own secrets and the secrets in others from a text of a child. nil means that
	// there are no secrets.
	Redact func(text string, others []string) string
	// Scratch is the directory for the temporary files of runs.
	Scratch string
	Limits  confine.Limits
	// Ports are TCP ports of this machine that are closed to programs.
	Ports []int
	// Remedy is the advice after a run has hit a limit, in Markdown; "" means a sentence that fits all limits.
	Remedy string
	// Protection is called once with a line for each way in which programs are confined.
	Protection func(lines []string)

	sums    sums
	mu      sync.Mutex
	memory  []byte
	used    atomic.Bool
	once    sync.Once
	without without
}

var (
	_ jobs.Engine   = (*Engine)(nil)
	_ jobs.Projects = (*Engine)(nil)
)

// Used reports whether a run has started programs of the configuration: provisioners' commands, or programs of
// the provider "external". If the machine can be replaced, no other run may use it afterwards.
func (e *Engine) Used() bool { return e.used.Load() }

// Plan implements jobs.Engine.
func (e *Engine) Plan(ctx context.Context, j jobs.Job) (jobs.PlanResult, error) {
	c := e.call(order{Action: plans, Job: j})
	r, err := c.do(ctx)
	if dead := asDeath(err); dead != nil {
		e.letGo(ctx, c)
		return jobs.PlanResult{Report: c.clean(dead.Markdown())}, nil
	}
	if err == nil && r.Plan == nil {
		err = errShape
	}
	if err != nil {
		return jobs.PlanResult{}, fmt.Errorf("plan %s in %s: %w", j.Project, j.Repo, err)
	}
	p := *r.Plan
	p.Report, p.Full = c.clean(p.Report), c.clean(p.Full)
	p.Notes = comment.NotesWithin(p.Notes)
	c.cleanNotes(p.Notes)
	return p, nil
}

// cleanNotes removes the secrets of the call from notes.
func (c *call) cleanNotes(notes []comment.LineNote) {
	for i, n := range notes {
		notes[i].Title, notes[i].Message = c.clean(n.Title), c.clean(n.Message)
	}
}

// Apply implements jobs.Engine.
func (e *Engine) Apply(ctx context.Context, j jobs.Job, plan []byte, permit func(jobs.BeforeApply) jobs.Permit) (jobs.Outcome, error) {
	c := e.call(order{Action: applies, Job: j, Plan: plan})
	c.permit = permit
	r, err := c.do(ctx)
	if dead := asDeath(err); dead != nil && c.outOfTime() {
		return jobs.Outcome{Failed: true, Resumable: true, Progress: c.far}, nil
	} else if dead != nil {
		e.letGo(ctx, c)
		return jobs.Outcome{Failed: true, Lost: c.permitted, Report: c.clean(dead.Markdown())}, nil
	}
	if err == nil && r.Outcome == nil {
		err = errShape
	}
	if err != nil {
		return jobs.Outcome{}, fmt.Errorf("apply %s in %s: %w", j.Project, j.Repo, err)
	}
	o := *r.Outcome
	o.Report, o.Full = c.clean(o.Report), c.clean(o.Full)
	return o, nil
}

// Check implements jobs.Engine.
func (e *Engine) Check(ctx context.Context, j jobs.Job, plan []byte) (jobs.Checked, error) {
	c := e.call(order{Action: checks, Job: j, Plan: plan})
	r, err := c.do(ctx)
	if dead := asDeath(err); dead != nil {
		return jobs.Checked{Problem: c.clean(dead.Markdown())}, nil
	}
	if err == nil && r.Checked == nil {
		err = errShape
	}
	if err != nil {
		return jobs.Checked{}, fmt.Errorf("check the plan of %s in %s: %w", j.Project, j.Repo, err)
	}
	got := *r.Checked
	got.Problem = c.clean(got.Problem)
	if a := got.Now.Again; a != nil {
		a.Difference, a.Plan.Report, a.Plan.Full = c.clean(a.Difference), c.clean(a.Plan.Report), c.clean(a.Plan.Full)
	}
	return got, nil
}

// Snapshot implements jobs.Engine.
func (e *Engine) Snapshot(ctx context.Context, j jobs.Job) (jobs.Snapshot, error) {
	c := e.call(order{Action: snapshots, Job: j})
	r, err := c.do(ctx)
	if dead := asDeath(err); dead != nil {
		return jobs.Snapshot{Problem: c.clean(dead.Markdown())}, nil
	}
	if err == nil && r.Snapshot == nil {
		err = errShape
	}
	if err != nil {
		return jobs.Snapshot{}, fmt.Errorf("read the state of %s in %s: %w", j.Project, j.Repo, err)
	}
	s := *r.Snapshot
	s.Problem = c.clean(s.Problem)
	return s, nil
}

// Test implements jobs.Engine.
func (e *Engine) Test(ctx context.Context, j jobs.Job) (comment.Tests, error) {
	c := e.call(order{Action: tests, Job: j})
	r, err := c.do(ctx)
	if dead := asDeath(err); dead != nil {
		return comment.Tests{Project: j.Project, Broken: true, Report: c.clean(dead.Markdown())}, nil
	}
	if err == nil && r.Tests == nil {
		err = errShape
	}
	if err != nil {
		return comment.Tests{}, fmt.Errorf("test %s in %s: %w", j.Project, j.Repo, err)
	}
	got := r.Tests.Within()
	got.Project, got.Report = j.Project, c.clean(got.Report)
	for i, x := range got.Runs {
		got.Runs[i].File, got.Runs[i].Name = c.clean(x.File), c.clean(x.Name)
	}
	c.cleanNotes(got.Notes)
	return got, nil
}

// Query implements jobs.Engine.
func (e *Engine) Query(ctx context.Context, j jobs.Job, room int) (comment.Queried, string, error) {
	c := e.call(order{Action: queries, Job: j, Room: room})
	r, err := c.do(ctx)
	if dead := asDeath(err); dead != nil {
		return comment.Queried{}, c.clean(dead.Markdown()), nil
	}
	if err == nil && r.Queried == nil {
		err = errShape
	}
	if err != nil {
		return comment.Queried{}, "", fmt.Errorf("query %s in %s: %w", j.Project, j.Repo, err)
	}
	return r.Queried.Each(c.clean, room), c.clean(r.Problem), nil
}

// Show implements jobs.Engine.
func (e *Engine) Show(ctx context.Context, j jobs.Job, cmd comment.Command) (comment.Shown, string, error) {
	c := e.call(order{Action: shows, Job: j, Command: cmd})
	r, err := c.do(ctx)
	if dead := asDeath(err); dead != nil {
		return comment.Shown{}, c.clean(dead.Markdown()), nil
	}
	if err == nil && r.Shown == nil {
		err = errShape
	}
	if err != nil {
		return comment.Shown{}, "", fmt.Errorf("show the state of %s in %s: %w", j.Project, j.Repo, err)
	}
	s := r.Shown.Each(c.clean)
	s.Command, s.Project = cmd, j.Project
	return s, c.clean(r.Problem), nil
}

// Unlock implements jobs.Engine.
func (e *Engine) Unlock(ctx context.Context, j jobs.Job) (jobs.Unlocked, error) {
	r, err := e.call(order{Action: unlocks, Job: j}).do(ctx)
	if dead := asDeath(err); dead != nil {
		return jobs.Unlocked{}, &jobs.StateError{Why: e.clean(dead.Error()), Remedy: dead.Remedy}
	}
	if err == nil && r.Unlocked == nil {
		err = errShape
	}
	if err != nil {
		return jobs.Unlocked{}, fmt.Errorf("unlock %s in %s: %w", j.Project, j.Repo, err)
	}
	return *r.Unlocked, nil
}

// Recover implements jobs.Engine.
func (e *Engine) Recover(ctx context.Context, j jobs.Job) (comment.Recovered, error) {
	c := e.call(order{Action: recovers, Job: j})
	r, err := c.do(ctx)
	if dead := asDeath(err); dead != nil {
		return comment.Recovered{}, &jobs.StateError{Why: c.clean(dead.Error()), Remedy: dead.Remedy}
	}
	if err == nil && r.Recovered == nil {
		err = errShape
	}
	if err != nil {
		return comment.Recovered{}, fmt.Errorf("recover %s in %s: %w", j.Project, j.Repo, err)
	}
	got := *r.Recovered
	for i, d := range got.Doubts {
		for k, known := range d.Known {
			got.Doubts[i].Known[k] = c.clean(known)
		}
	}
	return got, nil
}

// Look calls the function in the field Protection before the first run. It passes the ways in which the
// programs of runs will be confined.
func (e *Engine) Look(ctx context.Context) error {
	_, err := e.call(order{Action: looks}).do(ctx)
	return err
}

// Discover implements jobs.Projects.
func (e *Engine) Discover(ctx context.Context, dir string) (jobs.Discovered, error) {
	r, err := e.call(order{Action: discovers, Dir: dir}).do(ctx)
	if err == nil && r.Discovered == nil {
		err = errShape
	}
	if err != nil {
		return jobs.Discovered{}, err
	}
	d := *r.Discovered
	d.Problem = e.clean(d.Problem)
	for i, note := range d.Notes {
		d.Notes[i] = e.clean(note)
	}
	for _, list := range [][]jobs.Warning{d.Warnings, d.Unguarded} {
		for i, w := range list {
			list[i] = jobs.Warning{Text: e.clean(w.Text), At: e.clean(w.At)}
		}
	}
	d.Unheld = e.clean(d.Unheld)
	if !slices.Contains(project.SettingsFiles, d.Settings) {
		d.Settings = "" // the name is in the answers
	}
	return d, nil
}

// Rehearse tries policies in a child. It is a jobs.TryPoliciesFunc.
func (e *Engine) Rehearse(ctx context.Context, dir string, trial jobs.PolicyTrial) ([]jobs.TriedPolicies, error) {
	r, err := e.call(order{Action: rehearses, Dir: dir, Policies: trial}).do(ctx)
	for _, p := range r.Rehearsed {
		for i, m := range p.Mistakes {
			p.Mistakes[i] = e.clean(m)
		}
	}
	return r.Rehearsed, err
}

// Inputs implements jobs.Projects.
func (e *Engine) Inputs(ctx context.Context, dir string, r runs.Run, s jobs.Scope) (project.Tree, error) {
	res, err := e.call(order{Action: inputs, Dir: dir, Run: r, Scope: s}).do(ctx)
	return res.Tree, err
}

// Touched implements jobs.Projects.
func (e *Engine) Touched(ctx context.Context, c jobs.Comparison) (jobs.Compared, error) {
	r, err := e.call(order{Action: compares, Compare: c}).do(ctx)
	if err == nil && r.Compared == nil {
		err = errShape
	}
	if err != nil {
		return jobs.Compared{}, err
	}
	r.Compared.Problem = e.clean(r.Compared.Problem)
	return *r.Compared, nil
}

func (e *Engine) clean(text string) string { return e.hide(text, nil) }

// hide removes Lockstep's own secrets and the secrets in others from a text.
func (e *Engine) hide(text string, others []string) string {
	if e.Redact == nil {
		return text
	}
	return e.Redact(text, others)
}

// letGo releases the lock that a dead child had on its state. All processes of the child have ended. If the
// lock cannot be released, "lockstep unlock" can release it later.
func (e *Engine) letGo(ctx context.Context, c *call) {
	if !c.locked {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), letGoTime)
	defer cancel()
	_, _ = e.Unlock(ctx, c.order.Job)
}

// complete adds the parent's settings to an order.
func (e *Engine) complete(o *order) error {
	settings, err := json.Marshal(e.Settings)
	if err != nil {
		return err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	o.Settings, o.Memory, o.Ports, o.Limit, o.Narrowed = settings, e.memory, e.Ports, e.Limits.Memory, e.Credentials != nil
	return nil
}

// what returns a description of the child's work for people, in Markdown.
func (o order) what() string {
	switch o.Action {
	case plans:
		return "Planning " + markdown.Code(o.Job.Project)
	case applies:
		return "Applying " + markdown.Code(o.Job.Project)
	case checks:
		return "Checking the plan of " + markdown.Code(o.Job.Project)
	case snapshots:
		return "Reading the state of " + markdown.Code(o.Job.Project)
	case queries:
		return "Querying " + markdown.Code(o.Job.Project)
	case shows:
		return "Reading the state of " + markdown.Code(o.Job.Project)
	case tests:
		return "Testing " + markdown.Code(o.Job.Project)
	case steps:
		return "Running the step " + markdown.Code(o.Step.Name) + " of " + markdown.Code(o.Job.Project)
	case units:
		return "Finding the units of Terragrunt"
	case prepares:
		return "Preparing the unit of " + markdown.Code(o.Job.Project)
	case recovers:
		return "Recovering " + markdown.Code(o.Job.Project)
	case unlocks:
		return "Unlocking " + markdown.Code(o.Job.Project)
	case rehearses:
		return "Trying the policies"
	case compares:
		return "Looking for the projects that the pull request touches"
	case inputs:
		return "Reading the files of " + markdown.Code(o.Run.Project)
	}
	return "Looking for projects"
}
