package applyrun

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/lockstep-iac/lockstep/functions/comment"
	"github.com/lockstep-iac/lockstep/functions/comment/markdown"
	"github.com/lockstep-iac/lockstep/functions/comment/notes"
	"github.com/lockstep-iac/lockstep/functions/comment/reasons"
	"github.com/lockstep-iac/lockstep/functions/pipeline"
	"github.com/lockstep-iac/lockstep/functions/pipeline/gatefacts"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/admission"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/ledger"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/planrun"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/report"
	"github.com/lockstep-iac/lockstep/functions/pipeline/jobs"
	"github.com/lockstep-iac/lockstep/functions/pipeline/runs"
	"github.com/lockstep-iac/lockstep/functions/project/endpoints"
	"github.com/lockstep-iac/lockstep/functions/project/requirements"
	"github.com/lockstep-iac/lockstep/github"
)

// continueApply continues an apply that an earlier process has begun, with the same lock and a higher fence.
// The gate has already allowed the apply. So admission.Continue decides whether it is safe to continue, and not
// admission.Decide. The command "lockstep stop" ends the apply. It also ends if Lockstep no longer works for
// the repository, because messages of such a repository are not handled.
func (ap *Applier) continueApply(ctx context.Context, s ledger.Versioned, b ledger.Begun) error {
	if b.Busy(time.Now()) {
		return &pipeline.BusyError{Until: b.HardStop}
	}
	b, err := ap.Ledger.TakeOver(ctx, s.Run, b, pipeline.HardStop(ctx))
	if err != nil {
		return err
	}
	if err := ap.Leases.Hold(ctx, s.Run); err != nil {
		return err
	}
	if s.Phase == runs.Continuing {
		if s, err = ap.Ledger.Save(ctx, s.To(runs.Applying)); err != nil {
			return err
		}
	}
	c, problem, done, err := ap.prepared(ctx, s, b)
	if err != nil {
		return fmt.Errorf("go on with the apply of %s: %w", s.Project, err)
	}
	defer done()
	if problem != "" {
		o := jobs.Outcome{Failed: true, Lost: true, Report: problem}
		if b.Ended != nil {
			o = *b.Ended
		}
		return ap.recordOutcome(ctx, s, o, b)
	}
	stop, err := ap.Ledger.StopOf(ctx, s.Run)
	if err != nil {
		return err
	}
	if stop != nil {
		c.begun = b
		return ap.stopped(ctx, c, jobs.Outcome{Progress: c.far, State: s.Plan.State, Counts: b.Counts}, *stop)
	}
	outcome, err := c.execute(ctx)
	switch {
	case c.failed != nil:
		return fmt.Errorf("go on with the apply of %s: %w", s.Project, c.failed)
	case c.begun.Version == "" && outcome.Refused:
		return fmt.Errorf("go on with the apply of %s: %w", s.Project, pipeline.ErrConflict)
	case c.begun.Version == "" && err != nil && ctx.Err() == nil:
		return fmt.Errorf("go on with the apply of %s: %w", s.Project, err)
	case c.begun.Version == "":
		c.begun = b
	}
	return c.end(ctx, outcome, err)
}

// prepared gets what an apply needs to continue: its plan, the files with which it began, and the rights that the base
// branch grants now. If problem is not "", another attempt is useless; problem then tells people why, in Markdown. The
// caller calls done at the end.
func (ap *Applier) prepared(ctx context.Context, s ledger.Versioned, b ledger.Begun) (c *application, problem string, done func(), err error) {
	none := func() {}
	plan, err := ap.Artifacts.Get(ctx, s.AppliedPlan())
	if errors.Is(err, pipeline.ErrNoArtifact) {
		return nil, notes.PlanGone(), none, nil
	}
	if err != nil {
		return nil, "", none, err
	}
	q, dir, done, err := ap.asBegun(ctx, s, b, plan)
	if err != nil {
		problem, err = ap.finalProblem(s, err)
		return nil, problem, none, err
	}
	if q.Ungenerated != nil {
		done()
		return nil, reasons.List{*q.Ungenerated}.Markdown(), none, nil
	}
	job, problem, err := ap.Facts.Job(ctx, &q, dir)
	switch d := admission.Continue(q); {
	case err != nil:
		problem, err = ap.finalProblem(s, err)
	case problem != "":
		problem = markdown.Code(problem)
	case !d.Allowed():
		problem = comment.Markdown(gatefacts.Refused(comment.Command{Verb: comment.Apply}, s.Project, d))
	}
	if err != nil || problem != "" {
		done()
		return nil, problem, none, err
	}
	job.Continues = true
	after, err := ap.Steps.List(ctx, requirements.AfterApply, s.Run)
	if err != nil {
		done()
		return nil, "", none, err
	}
	c = &application{ap: ap, run: s, plan: plan, job: job, far: b.Progress, after: after}
	c.permit = func(ctx context.Context, _ jobs.BeforeApply) (ledger.Begun, jobs.Permit, error) {
		// This process has the lock of the state now. If a newer process has taken over the apply, there are two cases.
		// Either that process has changed the apply's record already, so the versions differ, and this process must
		// stop. Or it still waits for the lock.
		_, now, err := ap.Ledger.ApplyRecord(ctx, s.Run)
		if err != nil || now != b.Version {
			return b, jobs.Refused, err
		}
		return b, jobs.Permitted, nil
	}
	return c, "", done, nil
}

// asBegun checks out the commit with which an apply was begun, generates its files, and reads the facts for continuing
// it. GitHub deletes trial merges after some time. asBegun then uses the present trial merge, or the commit of the merge.
func (ap *Applier) asBegun(ctx context.Context, s ledger.Versioned, b ledger.Begun, plan []byte) (q admission.Request, dir string, done func(), err error) {
	r, pull := s.Run, ap.Facts.Pull
	if r.Spec.Base = pull.MergeSHA; !pull.Merged || r.Spec.AfterMerge || r.Asked.Late {
		if r.Spec.Base, err = ap.Facts.Hub.Tip(ctx, pull.Base.Ref); err != nil {
			return q, "", nil, err
		}
	}
	q = ap.Facts.Request(comment.Apply, r)
	if err := ap.Facts.CompareShown(ctx, &q); err != nil {
		return q, "", nil, err
	}
	q.Saved, q.Sealed = runs.HashOf(plan), b.Base
	planned, err := ledger.LoadInputs(ctx, ap.Artifacts, r)
	if errors.Is(err, ledger.ErrExchanged) {
		q.Kept, err = err.Error(), nil
	}
	if err != nil {
		return q, "", nil, err
	}
	dir, done, err = ap.Facts.Checkout(ctx, b.Commit)
	if errors.Is(err, github.ErrNotFound) {
		sha := pull.MergeSHA
		if !pull.Merged {
			m, err := ap.Facts.TrialMerge(ctx, &q)
			if err != nil {
				return q, "", nil, err
			}
			sha = m.SHA
		}
		dir, done, err = ap.Facts.Checkout(ctx, sha)
	}
	if err != nil {
		return q, "", nil, err
	}
	now := ledger.Inputs{Read: planned.Read, Whole: planned.Whole}
	// Generated files are inputs, so they are compared with those of the plan.
	if q.Ungenerated, err = ap.Steps.Generate(ctx, q.Run, dir, asksAgain(q)); err == nil && q.Ungenerated == nil {
		now.Tree, now.Own, err = planrun.ReadInputs(ctx, ap.Projects, dir, r, planned.Scope())
	}
	if err != nil {
		done()
		return q, "", nil, err
	}
	moved := planned.Compare(now, r)
	if q.Differ, q.Whole = moved.Own, planned.Whole; r.Plan.Again == "" {
		// The plan was not made once more, so changed blocks and files are also differences.
		q.Differ = slices.Concat(moved.Own, moved.Blocks, moved.Around)
	}
	if err := ap.noteGenerators(ctx, &q); err != nil {
		done()
		return q, "", nil, err
	}
	return q, dir, done, nil
}

// finalProblem returns a text for people if err stays the same until a person fixes something. It returns any
// other error unchanged.
func (ap *Applier) finalProblem(s ledger.Versioned, err error) (string, error) {
	d, err := gatefacts.FinalRefusal(err)
	if err != nil {
		return "", err
	}
	return comment.Markdown(gatefacts.Refused(comment.Command{Verb: comment.Apply}, s.Project, d)), nil
}

// stopped ends an apply that a person has stopped. It releases the lock, but keeps the journal, so that the
// apply can be continued.
func (ap *Applier) stopped(ctx context.Context, c *application, o jobs.Outcome, stop ledger.Stop) error {
	ctx = context.WithoutCancel(ctx)
	if _, err := ap.Engine.Unlock(ctx, c.job); err != nil {
		return fmt.Errorf("stop the apply of %s: %w", c.run.Project, err)
	}
	s := c.run
	at, err := ap.auditEnd(ctx, s.Run, c.begun.ApplyRecord, o)
	if err != nil {
		return err
	}
	if !stateUntouched(s.Run, o) {
		if err := recordLastApply(ctx, ap, s.Run, o.State, at); err != nil {
			return err
		}
	}
	if err := ap.Artifacts.Put(ctx, s.Result(), []byte(o.Report)); err != nil {
		return err
	}
	after, err := ap.Hooks.Run(ctx, jobs.HookCall{Event: endpoints.AfterApply, Run: s.Run, Failed: true, Counts: o.Counts})
	if err = retryable(err); err != nil {
		return err
	}
	s = s.To(runs.Stopped)
	s.Apply.Hooks, s.Apply.Lifted = append(c.begun.Hooks, after...), cmp.Or(c.begun.Lifted, s.Apply.Lifted)
	s.Apply.Approved = c.begun.Approved
	s.Plan.State, s.Apply.Progress, s.End.StoppedBy = o.State, o.Progress, stop.By
	s, err = ap.Ledger.Save(ctx, s)
	if err != nil {
		return err
	}
	return ap.Stopped(ctx, s)
}

// Stopped reports to people that an apply was stopped.
func (ap *Applier) Stopped(ctx context.Context, s ledger.Versioned) error {
	r := s.Run
	if err := ap.Report.Reply(ctx, r.Asked.Answer, report.StoppedApply(r, r.Over(ap.Facts.Pull.Open))); err != nil {
		return err
	}
	if !ap.Facts.Pull.Open {
		if err := ap.Closer.settleStates(ctx, s.Run); err != nil {
			return err
		}
	}
	return ap.RefusedApply(ctx, s)
}
