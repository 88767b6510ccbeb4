package applyrun

import (
	"context"
	"errors"

	"github.com/lockstep-iac/lockstep/functions/comment"
	"github.com/lockstep-iac/lockstep/functions/pipeline"
	"github.com/lockstep-iac/lockstep/functions/pipeline/gatefacts"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/admission"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/ledger"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/report"
	"github.com/lockstep-iac/lockstep/functions/pipeline/jobs"
	"github.com/lockstep-iac/lockstep/functions/pipeline/runs"
	"github.com/lockstep-iac/lockstep/github"
)

// Untouched reports an apply that failed before its first change. While the pull request is open, the plan can
// still be applied.
func (ap *Applier) Untouched(ctx context.Context, s ledger.Versioned, o jobs.Outcome) error {
	if err := ap.releaseLeft(ctx, s.Run); err != nil {
		return err
	}
	if err := ap.Artifacts.Put(ctx, s.Result(), []byte(o.Report)); err != nil {
		return err
	}
	p := report.ApplyReply(s.Run, comment.Failed{Project: runs.Label(s.Run), Verb: comment.Apply, Untouched: true, Closed: s.Over(ap.Facts.Pull.Open)})
	p.Body = s.Result()
	if err := ap.Report.Reply(ctx, s.Asked.Answer, p); err != nil {
		return err
	}
	return ap.backTo(ctx, s, runs.Planned)
}

// refuse reports the refusal of an apply. An apply that a merge requested may wait for missing requirements
// instead.
func (ap *Applier) refuse(ctx context.Context, s ledger.Versioned, d admission.Decision) error {
	if err := ap.releaseLeft(ctx, s.Run); err != nil {
		return err
	}
	held, on, late := d.WaitsAfterMerge()
	if late = late && s.Asked.Answer == ledger.MergeAnswer && !s.Apply.Part; late {
		d = held
	}
	no := gatefacts.Refused(comment.Command{Verb: comment.Apply}, s.Project, d)
	if err := ap.Report.Reply(ctx, s.Asked.Answer, report.ApplyReply(s.Run, no)); err != nil {
		return err
	}
	if late {
		return wait(ctx, ap, s, on)
	}
	next := runs.Planned
	if d.Stale() {
		next = runs.Stale
	}
	return ap.backTo(ctx, s, next)
}

// wait makes an apply of a merge wait for projects and for missing requirements, and reports them.
func wait(ctx context.Context, ap *Applier, s ledger.Versioned, on []string) error {
	w := runs.Waiting{For: s.Asked.ApplyFor, By: s.Asked.By, Answer: s.Asked.Answer, Plan: s.Plan.Hash, On: on}
	s = s.To(runs.Planned)
	s.Run, s.Asked.Late = s.WithWaiting(w), true
	s, err := ap.Ledger.Save(ctx, s)
	if err != nil {
		return err
	}
	return ap.RefusedApply(ctx, s)
}

// releaseLeft releases the lock that an earlier process may have left on the state, if it died between the
// lock and the apply record. Otherwise nobody would release the lock. If this process may not unlock the
// state now, it leaves the lock to a later process.
func (ap *Applier) releaseLeft(ctx context.Context, r runs.Run) error {
	if !ap.left {
		return nil
	}
	r.Phase = runs.Planned
	return ap.release(ctx, r)
}

// Release releases the lock that a given-up apply may have left. It handles a message, and can be repeated. An
// apply in progress keeps its lock.
func (ap *Applier) Release(ctx context.Context) error {
	s, err := ap.Ledger.Read(ctx, ap.Facts.Message.Run())
	if err != nil || s.Version == "" {
		return err
	}
	if err := ap.Facts.Look(ctx); err != nil {
		return err
	}
	return ap.release(ctx, s.Run)
}

// release releases the locks of a run on its state, if the gate allows that.
func (ap *Applier) release(ctx context.Context, r runs.Run) error {
	in := lockCheckout{facts: ap.Facts}
	defer in.close()
	d, err := in.ask(ctx, comment.Unlock, r)
	if err != nil || !d.Allowed() {
		return retryable(err)
	}
	_, err = ap.Engine.Unlock(ctx, in.job)
	if errors.As(err, new(*jobs.StateError)) {
		return nil
	}
	return err
}

// retryable returns err if another attempt may help, and nil otherwise.
func retryable(err error) error {
	_, err = gatefacts.FinalRefusal(err)
	return err
}

// cannotApply refuses an apply if err is final. It returns any other error. The plan can still be applied.
func (ap *Applier) cannotApply(ctx context.Context, s ledger.Versioned, err error) error {
	d, err := gatefacts.FinalRefusal(err)
	if err != nil {
		return err
	}
	return ap.refuse(ctx, s, d)
}

// backTo moves a run that was not applied back to an earlier phase. If its pull request is closed, or goes into
// a branch that is not planned, the run is dropped in the same step. So a process that takes over does not look
// for a deleted plan.
func (ap *Applier) backTo(ctx context.Context, s ledger.Versioned, next runs.Phase) error {
	if next == runs.Planned && s.Apply.Part {
		next = runs.Stopped
	}
	s, err := ap.Ledger.Save(ctx, s.To(next))
	if err != nil {
		return err
	}
	return ap.RefusedApply(ctx, s)
}

// RefusedApply completes the refusal of an apply. It also handles events that the waiting run has delayed: a
// closed pull request, another base branch, or a new head.
func (ap *Applier) RefusedApply(ctx context.Context, s ledger.Versioned) error {
	if s.Phase != runs.Planned && s.Phase != runs.Stale && s.Phase != runs.Stopped && s.Phase != runs.Dropped {
		return nil
	}
	if err := ap.Closer.Open.ShowQueue(ctx, s.Run); err != nil {
		return err
	}
	pull, err := ap.Facts.Hub.PullRequest(ctx, s.Pull.Number)
	away := false
	if err == nil && pull.Open && s.Phase.Open() {
		ap.Facts.Pull = pull
		planned, err := ap.Closer.planned(ctx)
		if err != nil {
			return err
		}
		away = !planned
	}
	switch {
	case err == nil && s.Asked.Late && s.Waiting():
		ap.Facts.Pull = pull
	case err == nil && (s.Over(pull.Open) || away) && s.Phase != runs.Dropped:
		ap.Facts.Pull = pull
		return errors.Join(ap.planMoved(ctx, s.Run, pull), ap.Closer.drop(ctx, s, s.Phase))
	case err == nil:
		err = ap.planMoved(ctx, s.Run, pull)
	}
	if err != nil && !errors.Is(err, github.ErrNotFound) {
		return err
	}
	return ap.Report.AtRest(ctx, s.Run)
}

// planMoved queues the plans that a run has delayed while it was applied, or queued for its apply. They are for
// a head that was pushed, and perhaps merged, or for another base branch.
func (ap *Applier) planMoved(ctx context.Context, r runs.Run, pull github.PullRequest) error {
	elsewhere := pull.Open && r.Asked.Into != "" && r.Asked.Into != pull.Base.Ref
	if pull.Head.SHA == r.Spec.Head && !elsewhere || r.Spec.AfterMerge {
		return nil
	}
	m := pipeline.Message{Kind: pipeline.Pushed}
	switch {
	case pull.Merged:
		m = pipeline.Message{Kind: pipeline.Landed, Actor: pull.MergedBy}
	case !pull.Open:
		return nil
	}
	return pipeline.Send(ctx, ap.Queue, ap.Facts.Message.Pull, m, r.MessageName(), r.Asked.Try, pull.Head.SHA)
}
