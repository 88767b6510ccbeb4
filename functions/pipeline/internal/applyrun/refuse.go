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

// Untouched reports an apply that failed before its first change. As long as the pull request is open, the plan
// can still be applied.
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

// refuse reports that an apply is refused. An apply that a merge has requested may wait for its requirements
// instead.
func (ap *Applier) refuse(ctx context.Context, s ledger.Versioned, d admission.Decision) error {
	if err := ap.releaseLeft(ctx, s.Run); err != nil {
		return err
	}
	held, on, late := d.WaitsAfterMerge()
	if late = late && s.Asked.Answer == ledger.MergeAnswer && !s.Apply.Part; late {
		d = held
	}
	if err := auditRefusal(ctx, ap.Audit, ap.Report, s.Run, d); err != nil {
		return err
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

// wait makes an apply that a merge has requested wait: for the projects in on, and for its requirements. It
// reports what it waits for.
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

// releaseLeft releases a lock that an earlier process may have left on the state: it may have died after it
// locked the state, and before it wrote the apply's record. Nothing else would release that lock. If this
// process may not unlock the state now, a later process will do it.
func (ap *Applier) releaseLeft(ctx context.Context, r runs.Run) error {
	if !ap.left {
		return nil
	}
	r.Phase = runs.Planned
	return ap.release(ctx, r)
}

// Release releases a lock on the state that may remain from an apply that was given up. It handles a message,
// and can be repeated. It does not release the lock of an apply in progress.
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

// release releases the locks that applies of a run have left on its state, if the gate allows that.
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

// cannotApply refuses an apply if err stays the same until a person fixes something. The plan can still be
// applied later. It returns any other error unchanged.
func (ap *Applier) cannotApply(ctx context.Context, s ledger.Versioned, err error) error {
	d, err := gatefacts.FinalRefusal(err)
	if err != nil {
		return err
	}
	return ap.refuse(ctx, s, d)
}

// backTo saves a run whose apply did not happen, in an earlier phase. A run that was applied in part becomes stopped in
// the place of planned. If the pull request is closed, or its base branch is none that Lockstep plans for, the run is
// then dropped.
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

// RefusedApply completes the refusal of an apply. It also handles events that had to wait for this apply: a
// closed pull request, a new base branch, or a new head.
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

// planMoved queues plans that had to wait while a run was queued or applied. They are for a new head, perhaps
// already merged, or for a new base branch.
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
