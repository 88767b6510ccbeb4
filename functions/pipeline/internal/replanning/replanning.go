// Package replanning checks a plan that waits for its apply, after another pull request was applied to
// its state, or that of a project that it depends on, and is merged or closed, or after a plan has moved whose outputs it was
// made with: it plans once more, of the present trial merge and the present state, and compares both plans as data.
//
//	the same       the plan stays, under its hash, with a note that it was checked
//	another one    the new plan takes its place, with the difference, and waits for an apply of its own
//	not known      the plan stays, with a note why it could not be checked
//	in a conflict  all plans of the pull request are out of date, until it is merged with the base branch
//
// A plan that has failed is made again instead, as one of its own: nobody has approved anything of it. That is so once for
// each time that something has moved which it may have failed for.
//
// Nothing here is believed by an apply, which plans again itself with the state locked: a check tells
// people early of what they would be told late. So it takes no lock, no lease and no right that a
// plan does not have. A push, a command or a close takes precedence: whoever moves the run's record on
// first, the other one gives up.
//
// The meaning of a death: the number of the new plan's artifacts is reserved in the record before
// they are stored, so that nobody writes the same ones; until the record has the plan they belong to
// nobody, and are swept with the next. A new plan that is recorded and was not announced is made once
// more, from the former one, because our check run must have its hash from whoever made it.
//
// The package refuses to know which plans are to be checked: those are packages openplans and foreseeing. Start at
// [Checker.Check].
package replanning

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/lockstep-iac/lockstep/functions/comment/reasons"
	"github.com/lockstep-iac/lockstep/functions/pipeline"
	"github.com/lockstep-iac/lockstep/functions/pipeline/gatefacts"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/admission"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/integrations"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/ledger"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/openplans"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/plannedoutputs"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/planrun"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/report"
	"github.com/lockstep-iac/lockstep/functions/pipeline/jobs"
	"github.com/lockstep-iac/lockstep/functions/pipeline/runs"
	"github.com/lockstep-iac/lockstep/github"
)

// A Checker checks the plan of one run.
type Checker struct {
	Facts     *gatefacts.Reader
	Report    *report.Reporter
	Ledger    ledger.Ledger
	Artifacts pipeline.Artifacts
	Projects  jobs.Projects
	Engine    jobs.Engine
	Foreseer  plannedoutputs.Foreseer
	Hooks     integrations.Hooks
	// Poll is the interval at which it looks whether the run has moved on; 0 is 5 s.
	Poll time.Duration

	applies   int               // to the state, until now
	plannedOn map[string]string // the plans of others, now
	reads     map[string]int    // the applies to the states that it depends on, until now
}

// Check is the handling of a message, and can be repeated.
func (c *Checker) Check(ctx context.Context) error {
	s, err := c.due(ctx)
	if err != nil || s.Version == "" {
		return err
	}
	if err := c.Facts.Look(ctx); err != nil {
		return err
	}
	if s.Over(c.Facts.Pull.Open) || c.Facts.Pull.Head.SHA != s.Spec.Head {
		return nil // another message is about that
	}
	switch {
	case s.End.Fate == runs.Gone:
		err = back(ctx, c, s)
	case s.Phase == runs.PlanFailed:
		err = again(ctx, c, s)
	default:
		err = c.check(ctx, s)
	}
	if errors.Is(err, pipeline.ErrConflict) || errors.Is(err, planrun.ErrSuperseded) {
		return nil
	}
	return err
}

// due reads the run, without a version if there is nothing to check.
func (c *Checker) due(ctx context.Context) (none ledger.Versioned, err error) {
	m := c.Facts.Message
	s, err := c.Ledger.Read(ctx, m.Run())
	if err != nil || s.Version == "" {
		return none, err
	}
	// An earlier try may have died before it was told of.
	switch {
	case s.Phase == runs.Stale && s.Asked.Attempt == m.Attempt && (s.End.Renamed != "" || c.checked(s.Run)):
		return none, c.Report.AtRest(ctx, s.Run)
	case s.Phase == runs.Queued && s.Asked.PlanFor == m.ID:
		return none, announceAgain(ctx, c, s.Run)
	}
	if !runs.Checkable(s.Run) && s.End.Fate != runs.Gone || s.Asked.Attempt != m.Attempt {
		return none, nil
	}
	last, err := c.Ledger.LastApply(ctx, s.Run)
	if err != nil {
		return s, err
	}
	var moved bool
	c.applies = last.CountFor(s.Pull.Number)
	if s.End.Fate == runs.Gone {
		return s, nil
	}
	if c.reads, err = c.Ledger.Applies(ctx, s.Run); err != nil {
		return s, err
	}
	if c.plannedOn, moved, err = c.Foreseer.Due(ctx, s.Run); err != nil || moved || m.Lost || openplans.Due(s.Run, last) || openplans.Outdated(s.Run, c.reads) {
		return s, err
	}
	if !c.checked(s.Run) {
		return none, nil
	}
	return c.announced(ctx, s)
}

// checked reports whether an earlier try has checked the plan of a run.
func (c *Checker) checked(r runs.Run) bool {
	return r.Plan.Checked != nil && r.Plan.Checked.ID == c.Facts.Message.ID
}

// announced announces the outcome of an earlier try, which may have died before all of it was, or returns the run with the plan that was
// checked, if GitHub shows that one still.
func (c *Checker) announced(ctx context.Context, s ledger.Versioned) (none ledger.Versioned, err error) {
	shown, _, err := c.Facts.OnGitHub(ctx, s.Run)
	switch {
	case err != nil:
		return none, err
	case shown == s.Plan.Hash:
		return none, c.announce(ctx, s.Run)
	case s.Plan.Checked.Former != nil && shown == s.Plan.Checked.Former.PlanHash:
		s.Run = s.WithFormer(s.Plan.Checked.Former)
	}
	return s, nil
}

// check makes the plan again and carries out the verdict.
func (c *Checker) check(ctx context.Context, s ledger.Versioned) error {
	q, no, err := c.present(ctx, s.Run)
	if _, ends := runs.Conflicting(s.Run, s.Spec.Head); ends && err == nil && q.Conflict {
		return c.conflict(ctx, s, no)
	}
	if err != nil || no != nil {
		return c.impossible(ctx, s, no, err)
	}
	w, done, no, err := c.open(ctx, &q)
	if err == nil && w.gone {
		return gone(ctx, c, s, q.Run.Spec.Merge)
	}
	if err != nil || no != nil {
		return c.impossible(ctx, s, no, err)
	}
	defer done()
	s.Artifacts.Reserved = s.NextBegun()
	if s, err = c.Ledger.Save(ctx, s); err != nil {
		return err
	}
	found, err := c.watched(ctx, s, w.job, w.kept)
	if err != nil {
		return fmt.Errorf("check the plan of %s: %w", s.Project, err)
	}
	return c.conclude(ctx, s, q, found, planrun.Replacement{Job: w.job, Inputs: w.in, Begun: s.Artifacts.Reserved})
}

// conflict ends the plans of a pull request that conflicts with the base branch. That of the run knows this message, before it is
// ended: if the process dies, it is told of by the next try.
func (c *Checker) conflict(ctx context.Context, s ledger.Versioned, no reasons.List) error {
	s.Plan.Checked = &runs.Checked{ID: c.Facts.Message.ID, Problem: c.Report.Clean(no.Markdown()), Renewed: s.Plan.Checked != nil && s.Plan.Checked.Renewed}
	s, err := c.Ledger.Save(ctx, s)
	if err != nil {
		return err
	}
	if err := planrun.Conflict(ctx, c.Report, c.Ledger, s.Pull, s.Spec.Head, s.Key()); err != nil {
		return err
	}
	if s, err = c.Ledger.Read(ctx, s.Key()); err != nil {
		return err
	}
	return c.Report.AtRest(ctx, s.Run)
}

// work is a plan, with its project in a checkout to make it again.
type work struct {
	kept []byte
	in   ledger.Inputs
	job  jobs.Job
	gone bool // the base branch has removed the project, or has given it another name
}

// open checks out the commit of a request's run and adds what has moved there since its plan was made. done removes the
// checkout. no are the reasons why the plan cannot be made again there.
func (c *Checker) open(ctx context.Context, q *admission.Request) (w work, done func(), no reasons.List, err error) {
	w.kept, err = c.Artifacts.Get(ctx, q.Run.AppliedPlan())
	if err != nil && !errors.Is(err, pipeline.ErrNoArtifact) {
		return w, nil, nil, err
	}
	q.Saved = runs.HashOf(w.kept)
	if err := c.Facts.CompareShown(ctx, q); err != nil {
		return w, nil, nil, err
	}
	dir, done, err := c.Facts.Checkout(ctx, q.Run.Spec.Merge)
	if errors.Is(err, github.ErrNotFound) {
		return w, nil, reasons.List{reasons.CommitGone{Problem: err.Error()}}, nil
	}
	if err != nil {
		return w, nil, nil, err
	}
	if no, err = c.look(ctx, q, dir, &w); err != nil || no != nil {
		done()
	}
	return w, done, no, err
}

// look looks at a checkout.
func (c *Checker) look(ctx context.Context, q *admission.Request, dir string, w *work) (no reasons.List, err error) {
	if w.in, w.gone, err = c.inputs(ctx, dir, q); err != nil {
		return nil, err
	}
	if w.gone {
		name, err := gatefacts.Successor(ctx, c.Facts, q.Run.Spec.Merge, q.Run)
		if err != nil || name != "" {
			return reasons.List{reasons.RenamedByBase{Project: q.Run.Project, Name: name}}, err
		}
		return reasons.List{reasons.RemovedByBase{Projects: []string{q.Run.Project}}}, nil
	}
	job, problem, err := c.Facts.Job(ctx, q, dir)
	if err != nil {
		return nil, err
	}
	if _, err := c.Foreseer.Complete(ctx, q.Run, &job); err != nil {
		return nil, err
	}
	w.job, q.Provisioners, q.PlannedOn, q.Applied = job, job.Grants.Provisioners, c.plannedOn, c.reads
	if d := admission.Decide(*q); problem != "" || !d.Allowed() {
		return append(d.Reasons, unusable(problem)...), nil
	}
	// Checks of what is kept come before its bytes go to the engine.
	if f := admission.Check(*q); f.Verdict == admission.Unchecked && len(f.Reasons) > 0 {
		return f.Reasons, nil
	}
	return nil, nil
}

func unusable(problem string) reasons.List {
	if problem == "" {
		return nil
	}
	return reasons.List{reasons.Unusable{Problem: problem}}
}

// watched has the plan checked, until the run moves on.
func (c *Checker) watched(ctx context.Context, s ledger.Versioned, job jobs.Job, kept []byte) (jobs.Checked, error) {
	ctx, stop := planrun.UntilChanged(ctx, c.Ledger, s, c.Poll)
	defer stop()
	return c.made(ctx, job, kept)
}

// made makes a plan again, until another one supersedes it.
func (c *Checker) made(ctx context.Context, job jobs.Job, kept []byte) (jobs.Checked, error) {
	found, err := c.Engine.Check(ctx, job, kept)
	if errors.Is(context.Cause(ctx), planrun.ErrSuperseded) {
		return jobs.Checked{}, planrun.ErrSuperseded
	}
	return found, err
}
