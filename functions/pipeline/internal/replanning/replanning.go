// Package replanning checks a waiting plan that may be out of date. There are two causes:
//   - Another pull request was applied to the plan's state, or to the state of a project on which it depends,
//     and is merged or closed.
//   - The plan has used the planned outputs of another plan, which has changed.
//
// The package makes a new plan, from the present trial merge and the present state, and compares both plans as
// data.
//
//	the same        the plan stays, under its hash, with a note that it was checked
//	different       the new plan replaces it, with the difference, and waits for an apply of its own
//	not known       the plan stays, with a note why it could not be checked
//	in a conflict   all plans of the pull request are out of date, until it is merged with the base branch
//
// A failed plan is not checked but made once more, because nobody can have approved it. That happens once for
// each change that may have removed the cause of the failure.
//
// No apply relies on these results: it makes a new plan itself, with the state locked. A check only informs
// people earlier. So it takes no lock, no lease, and no right that a plan does not have. A push, a command or a
// close takes precedence: if it changes the run's record first, the check ends.
//
// If a process dies, nothing is lost. The number of the new plan's artifacts is reserved in the record before
// they are stored, so no other process writes the same artifacts. If the process dies before the record has the
// plan, the next plan deletes the artifacts. If it dies after that, but before it has reported the new plan, a
// new plan is made once more: Lockstep's check run must get the hash of a plan from the process that has made
// it.
//
// The package does not know which plans must be checked: packages openplans and plannedoutputs do. Start
// reading at [Checker.Check].
package replanning

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/lockstep-iac/lockstep/functions/comment"
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
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/steps"
	"github.com/lockstep-iac/lockstep/functions/pipeline/jobs"
	"github.com/lockstep-iac/lockstep/functions/pipeline/runs"
	"github.com/lockstep-iac/lockstep/github"
)

// A Checker checks whether the waiting plan of one run is up to date.
type Checker struct {
	Facts     *gatefacts.Reader
	Report    *report.Reporter
	Ledger    ledger.Ledger
	Artifacts pipeline.Artifacts
	Projects  jobs.Projects
	Engine    jobs.Engine
	Foreseer  plannedoutputs.Foreseer
	Hooks     integrations.Hooks
	Steps     steps.Runner
	// Poll is the interval at which the checker reads whether the run has changed; 0 means 5 s.
	Poll time.Duration

	applies   int               // applies to the state so far
	plannedOn map[string]string // the present plans of other projects
	reads     map[string]int    // applies so far to the states that the run depends on
}

// Check checks the plan of the message's run, and reports the result. It handles a message, and can be
// repeated.
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
		err = planReturned(ctx, c, s)
	case s.Phase == runs.PlanFailed:
		err = planFailedAgain(ctx, c, s)
	default:
		err = c.check(ctx, s)
	}
	if errors.Is(err, pipeline.ErrConflict) || errors.Is(err, planrun.ErrSuperseded) {
		return nil
	}
	return err
}

// due reads the run. The version is "" if there is nothing to check.
func (c *Checker) due(ctx context.Context) (none ledger.Versioned, err error) {
	m := c.Facts.Message
	s, err := c.Ledger.Read(ctx, m.Run())
	if err != nil || s.Version == "" {
		return none, err
	}
	// An earlier attempt may have died before it reported the result.
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
	if c.plannedOn, moved, err = c.Foreseer.Due(ctx, s.Run); err != nil || moved || m.Lost || openplans.Due(s.Run, last) || openplans.ReadsOutdated(s.Run, c.reads) {
		return s, err
	}
	if !c.checked(s.Run) {
		return none, nil
	}
	return c.announceEarlier(ctx, s)
}

// checked reports whether an earlier attempt at this message has already checked the plan of a run.
func (c *Checker) checked(r runs.Run) bool {
	return r.Plan.Checked != nil && r.Plan.Checked.ID == c.Facts.Message.ID
}

// announceEarlier reports the result of an earlier attempt, which may have died before it had reported
// everything. If GitHub still shows the former plan, it returns the run with that plan, so that the check is
// repeated.
func (c *Checker) announceEarlier(ctx context.Context, s ledger.Versioned) (none ledger.Versioned, err error) {
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

// check makes a new plan, and does what the verdict about it says.
func (c *Checker) check(ctx context.Context, s ledger.Versioned) error {
	q, no, err := c.present(ctx, s.Run)
	if _, ends := runs.Conflicting(s.Run, s.Spec.Head); ends && err == nil && q.Conflict {
		return c.conflict(ctx, s, no)
	}
	if err != nil || no != nil {
		return c.recordUnchecked(ctx, s, no, err)
	}
	w, done, no, err := c.open(ctx, &q)
	if err == nil && w.gone {
		return endRemoved(ctx, c, s, q.Run.Spec.Merge)
	}
	if err != nil || no != nil {
		return c.recordUnchecked(ctx, s, no, err)
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

// conflict ends the plans of a pull request that conflicts with the base branch. It first records this message
// in the message's own run. So, if the process dies, the next attempt also reports that run.
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

// work has everything that is needed to make a plan once more: the plan, and its project in a checkout.
type work struct {
	kept []byte
	in   ledger.Inputs
	job  jobs.Job
	gone bool // the base branch has removed or renamed the project
}

// open checks out the commit of a request's run, and adds to the request what has changed there since the plan
// was made. done removes the checkout. no are the reasons why the plan cannot be made there.
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
	failed, err := c.Steps.Generate(ctx, q.Run, dir, comment.Command{Verb: comment.Plan, Project: q.Run.Project})
	if err == nil && failed != nil {
		no = reasons.List{*failed}
	}
	if err != nil || no != nil {
		done()
		return w, nil, no, err
	}
	if no, err = c.look(ctx, q, dir, &w); err != nil || no != nil {
		done()
	}
	return w, done, no, err
}

// look compares a checkout with the inputs of the plan, and adds the differences to the request. no are the
// reasons why the plan cannot be made there.
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
	place := func(ctx context.Context, q *admission.Request) (err error) {
		if w.job, q.Unusable, err = c.Facts.Job(ctx, q, dir); err != nil {
			return err
		}
		q.Provisioners, q.PlannedOn, q.Applied = w.job.Grants.Provisioners, c.plannedOn, c.reads
		_, err = c.Foreseer.Complete(ctx, q.Run, &w.job)
		return err
	}
	now, d, err := c.Facts.Ask(ctx, *q, gatefacts.Sources{admission.StatePlace: place})
	if *q = now; err != nil || !d.Allowed() {
		return d.Reasons, err
	}
	// The stored files are checked before the engine gets them.
	if f := admission.Check(*q); f.Verdict == admission.Unchecked && len(f.Reasons) > 0 {
		return f.Reasons, nil
	}
	return nil, nil
}

// watched lets the engine check the plan. It stops if the run's record changes.
func (c *Checker) watched(ctx context.Context, s ledger.Versioned, job jobs.Job, kept []byte) (jobs.Checked, error) {
	ctx, stop := planrun.UntilChanged(ctx, c.Ledger, s, c.Poll)
	defer stop()
	return c.made(ctx, job, kept)
}

// made makes a plan once more, for the comparison with kept. It stops if another plan supersedes it.
func (c *Checker) made(ctx context.Context, job jobs.Job, kept []byte) (jobs.Checked, error) {
	found, err := c.Engine.Check(ctx, job, kept)
	if errors.Is(context.Cause(ctx), planrun.ErrSuperseded) {
		return jobs.Checked{}, planrun.ErrSuperseded
	}
	return found, err
}
