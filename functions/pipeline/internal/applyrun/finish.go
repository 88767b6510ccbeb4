package applyrun

import (
	"cmp"
	"context"
	"errors"

	"github.com/lockstep-iac/lockstep/functions/comment"
	"github.com/lockstep-iac/lockstep/functions/comment/markdown"
	"github.com/lockstep-iac/lockstep/functions/comment/notes"
	"github.com/lockstep-iac/lockstep/functions/pipeline"
	"github.com/lockstep-iac/lockstep/functions/pipeline/gatefacts"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/drift"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/ledger"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/report"
	"github.com/lockstep-iac/lockstep/functions/pipeline/jobs"
	"github.com/lockstep-iac/lockstep/functions/pipeline/runs"
	"github.com/lockstep-iac/lockstep/functions/project/endpoints"
	"github.com/lockstep-iac/lockstep/github"
)

// Applied reports the result of an apply: in the status comment, in the check, and in the answer that waits for
// it.
func (ap *Applier) Applied(ctx context.Context, r runs.Run) error {
	if err := ap.Closer.Open.ShowQueue(ctx, r); err != nil {
		return err
	}
	if err := ap.recordFinished(ctx, r); err != nil {
		return err
	}
	if err := ap.lookAfterApply(ctx, r); err != nil {
		return err
	}
	if err := ap.Report.Reply(ctx, r.Asked.Answer, report.ApplyOutcome(r)); err != nil {
		return err
	}
	// The pull request may have been closed before this result was known.
	pull, err := ap.Facts.Hub.PullRequest(ctx, r.Pull.Number)
	switch {
	case err == nil && !pull.Open:
		ap.Facts.Pull = pull
		err = errors.Join(ap.planMoved(ctx, r, pull), ap.Closer.settleStates(ctx, r))
	case err == nil:
		err = ap.planMoved(ctx, r, pull)
	}
	if err != nil && !errors.Is(err, github.ErrNotFound) {
		return err
	}
	return ap.Report.AtRest(ctx, r)
}

// lookAfterApply sends a message if the apply of a run may have changed something, and the default branch has a drift
// block. Its handler has the project itself looked at, if there is an issue about it, so that the issue is closed at once.
// It has the projects planned that depend on the applied one, if the settings ask for that. It can be repeated.
func (ap *Applier) lookAfterApply(ctx context.Context, r runs.Run) error {
	if r.Phase == runs.ApplyFailed && r.Apply.Done == (jobs.Outcome{}).Counts && !r.Apply.Lost {
		return nil
	}
	s, err := gatefacts.DriftSettings(ctx, ap.Facts)
	if absent, err := gatefacts.Absent(ctx, ap.Facts, err); err != nil || absent || s == nil {
		return err
	}
	if !s.RunTriggers {
		open, err := drift.HasIssue(ctx, ap.Ledger, r)
		if err != nil || !open {
			return err
		}
	}
	pull, m := drift.AfterApply(r)
	return pipeline.Send(ctx, ap.Queue, pull, m, r.MessageName(), r.Asked.Try)
}

// maxKept is the maximum length of a report in the apply's record, in bytes. JSON needs up to six bytes for one
// byte, and the report still fits into a record.
const maxKept = 60 << 10

// recordOutcome adds the result to the apply's record, before it does anything that can fail.
func (ap *Applier) recordOutcome(ctx context.Context, s ledger.Versioned, o jobs.Outcome, begun ledger.Begun) error {
	ctx = context.WithoutCancel(ctx)
	o = ap.storeReport(ctx, s, o)
	begun.Ended, begun.Outcome = nil, &o
	begun, err := ap.Ledger.EndApply(ctx, s.Run, begun)
	if err != nil {
		return err
	}
	return ap.Finish(ctx, s, begun.ApplyRecord)
}

// storeReport stores the report about an apply as an artifact. It returns the result for the apply's record. If
// the artifact cannot be stored, this result contains the report, shortened to maxKept bytes.
func (ap *Applier) storeReport(ctx context.Context, s ledger.Versioned, o jobs.Outcome) jobs.Outcome {
	if o.Report != "" {
		err := ap.Artifacts.Put(ctx, s.Result(), []byte(o.Report))
		if o.Report = markdown.Cut(o.Report, maxKept); err == nil {
			o.Report = ""
		}
	}
	return o
}

// stateUntouched reports whether the apply has certainly left the state as it was when the plan was made. Plans
// of other pull requests can then not revert the apply.
func stateUntouched(r runs.Run, o jobs.Outcome) bool {
	return o.Failed && !o.Lost && o.Counts == jobs.Outcome{}.Counts && o.Progress.Done == 0 && o.State == r.Plan.State
}

// recordLastApply records that a run was applied. since is the ID of the state after the apply, and at the latest
// audit record of the apply. It also updates the comments of pull requests whose plans would revert the apply.
func recordLastApply(ctx context.Context, ap *Applier, r runs.Run, since runs.StateID, at runs.Audited) error {
	l := runs.LastApply{Number: r.Pull.Number, Head: r.Spec.Head, By: r.Asked.By, State: since, Into: r.Asked.Into, Audited: at}
	if err := ap.Ledger.Remember(ctx, r, l); err != nil {
		return err
	}
	return ap.Closer.Open.ShowAgain(ctx, r, "applied", r.Asked.Try)
}

// Finish moves a run to its final phase after the apply, according to the apply's record.
func (ap *Applier) Finish(ctx context.Context, s ledger.Versioned, e ledger.ApplyRecord) error {
	if e.Outcome == nil {
		e.Outcome = e.Ended
	}
	o := jobs.Outcome{Failed: true}
	idle := e.Outcome == nil && e.Rested // all processes ended as they should
	if idle {
		o.Remaining, o.Progress, o.Counts = e.Progress.Of-e.Progress.Done, e.Progress, e.Counts
		remedy, err := ap.buildRemedy(ctx)
		if err != nil {
			return err
		}
		if err := ap.Artifacts.Put(ctx, s.Result(), []byte(comment.NoProgress(e.Progress)+remedy)); err != nil {
			return err
		}
	} else if e.Outcome != nil {
		o = *e.Outcome
	} else if err := ap.Artifacts.Put(ctx, s.Result(), []byte(notes.Interrupted())); err != nil {
		return err
	}
	at, err := ap.auditEnd(ctx, s.Run, e, o)
	if err != nil {
		return err
	}
	if err := ap.Ledger.RecordDelivery(ctx, s.Run, ap.Facts.Pull.Created, o.Failed || o.Remaining > 0); err != nil {
		return err
	}
	// The last apply to the state is recorded before the end, because decisions about other pull requests
	// depend on it.
	if e.Outcome == nil || !stateUntouched(s.Run, o) {
		if err := recordLastApply(ctx, ap, s.Run, o.State, at); err != nil {
			return err
		}
	}
	if o.Report != "" {
		if err := ap.Artifacts.Put(ctx, s.Result(), []byte(o.Report)); err != nil {
			return err
		}
	}
	// The plan can never be applied in future, so it is removed from the list of open plans.
	if err := ap.Ledger.UnlistPlan(ctx, s.Run); err != nil {
		return err
	}
	if err := ap.Artifacts.Delete(ctx, s.SavedPlan()); err != nil {
		return err
	}
	next := runs.Applied
	if o.Failed || o.Remaining > 0 {
		next = runs.ApplyFailed
	}
	after, err := ap.Hooks.Run(ctx, jobs.HookCall{Event: endpoints.AfterApply, Run: s.Run, Failed: next == runs.ApplyFailed, Counts: o.Counts})
	if err = retryable(err); err != nil {
		return err
	}
	s = s.To(next)
	s.Apply.Hooks, s.Apply.Lifted = append(e.Hooks, after...), cmp.Or(e.Lifted, s.Apply.Lifted)
	s.Apply.Approved = e.Approved
	s.Apply.Done, s.Apply.Remaining, s.Apply.Lost = o.Counts, o.Remaining, e.Outcome == nil && !idle || o.Lost
	s, err = ap.Ledger.Save(ctx, s)
	if err != nil {
		return err
	}
	return ap.Applied(ctx, s.Run)
}
