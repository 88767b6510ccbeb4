package applyrun

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/lockstep-iac/lockstep/functions/comment"
	"github.com/lockstep-iac/lockstep/functions/comment/reasons"
	"github.com/lockstep-iac/lockstep/functions/pipeline"
	"github.com/lockstep-iac/lockstep/functions/pipeline/evidence"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/admission"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/ledger"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/planrun"
	"github.com/lockstep-iac/lockstep/functions/pipeline/jobs"
	"github.com/lockstep-iac/lockstep/functions/pipeline/runs"
	"github.com/lockstep-iac/lockstep/github"
)

// An apply may die after each of its writes, and its message is handled again. The repetition reads from the records
// how far it came:
//
//	lease           nothing was changed. The repetition waits until the lease of the dead process is over
//	phase Applying  nothing was changed as long as there is no apply record: it begins again, at the queue
//	apply record    written with the state locked, before the first change. From here on the apply is never begun
//	                again: its changes are in the journal beside the state, and the repetition goes on with these
//	ended           in the apply record, before the journal is removed and the state unlocked. The repetition goes on with
//	                the journal, where it finds nothing left to do, or takes this outcome if the journal is gone
//	outcome         in the apply record. Nothing is applied any more, and the end is recorded: see Finish
//	last phase      the end is announced again, in check and comments
//
// Until the apply record the gate decides, and each of its refusals leaves the plan as it was. It is asked after each
// kind of evidence, from the cheapest to the dearest, and always about all: evidence read earlier is not asked for
// again, but a new fact can bring another rule to bear. The last time is in permission.decide, with the state locked
// and the plan made again, and that answer alone lets anything be changed.

// Apply applies one saved plan. It is the handling of a message, and can be repeated: an apply that
// was begun is never begun again, but gone on with. The error is a *pipeline.HandOver where
// another process has to go on.
func (ap *Applier) Apply(ctx context.Context) error {
	s, err := ap.Ledger.Read(ctx, ap.Evidence.Message.Run())
	if err != nil || s.Version == "" || s.Asked.Try != ap.Evidence.Message.Attempt {
		return err
	}
	if err := ap.Evidence.Look(ctx); err != nil {
		return err
	}
	switch s.Phase {
	case runs.ApplyQueued:
	case runs.Applying, runs.Continuing:
		e, begun, err := ap.Ledger.ApplyRecord(ctx, s.Run)
		if err != nil {
			return err
		}
		if begun != "" && e.Outcome == nil {
			b := ledger.Begun{ApplyRecord: e, Version: begun}
			if err := ap.goesOnAway(ctx, s, b); err != nil {
				return err
			}
			return ap.goOn(ctx, s, b)
		}
		if begun != "" {
			return ap.Finish(ctx, s, e)
		}
		s, ap.left = s.To(runs.ApplyQueued), true // an earlier try died before it changed anything
	case runs.Stopped:
		return ap.Stopped(ctx, s)
	case runs.Applied, runs.ApplyFailed:
		return ap.Applied(ctx, s.Run)
	default:
		return ap.RefusedApply(ctx, s)
	}
	if err := ap.Leases.HoldAlone(ctx, s.Run); err != nil {
		return err
	}
	if d, err := ap.unlessStopped(ctx, s.Run); err != nil {
		return err
	} else if !d.Allowed() {
		return ap.refuse(ctx, s, d)
	}
	return ap.applyQueued(ctx, s)
}

// applyQueued asks the gate, with more evidence each time: first all that costs little, then the
// saved plan, then the files. If it allows the apply, the plan goes to the engine.
func (ap *Applier) applyQueued(ctx context.Context, s ledger.Versioned) error {
	r := s.Run
	r.Phase = runs.Planned // as the gate saw it when it was queued: only this message is new
	q, err := ap.Evidence.Request(ctx, comment.Apply, r)
	if err != nil {
		return ap.cannotApply(ctx, s, err)
	}
	if d := admission.Decide(q); !d.Allowed() {
		return ap.refuse(ctx, s, d)
	}
	plan, err := ap.Artifacts.Get(ctx, s.Applied())
	if errors.Is(err, pipeline.ErrNoArtifact) {
		q.Run.Phase = runs.New // the plan was deleted
		return ap.refuse(ctx, s, admission.Decide(q))
	}
	if err != nil {
		return err
	}
	if err := ap.Evidence.CompareShown(ctx, &q); err != nil {
		return ap.cannotApply(ctx, s, err)
	}
	q.Saved = asApplied(&q, plan)
	if d := admission.Decide(q); !d.Allowed() {
		return ap.refuse(ctx, s, d)
	}
	dir, in, done, err := ap.compare(ctx, &q)
	if errors.Is(err, github.ErrNotFound) {
		return ap.refuse(ctx, s, admission.Refusal(reasons.CommitGone{Problem: err.Error()}))
	}
	if err != nil {
		return ap.cannotApply(ctx, s, err)
	}
	defer done()
	if d := admission.Decide(q); !d.Allowed() && !d.PlanAgain() {
		if d, err = lost(ctx, ap, q, d); err != nil {
			return ap.cannotApply(ctx, s, err)
		}
		return ap.refuse(ctx, s, d)
	}
	job, problem, err := ap.Evidence.Job(ctx, &q, dir)
	if err != nil {
		return ap.cannotApply(ctx, s, err)
	}
	if problem != "" {
		if err := evidence.Broken(ctx, ap.Evidence, &q, dir); err != nil {
			return ap.cannotApply(ctx, s, err)
		}
		if d := admission.Decide(q); admission.Has[reasons.SettingsBroken](d) {
			return ap.refuse(ctx, s, d)
		}
		return ap.refuse(ctx, s, admission.Refusal(reasons.Unusable{Problem: problem}))
	}
	q.Provisioners = job.Grants.Provisioners
	if ledger.Follow(&s.Run, *q.Placing) {
		if q.Last, err = ap.Evidence.InTheWay(ctx, s.Run); err != nil {
			return ap.cannotApply(ctx, s, err)
		}
		if q.Reserved, err = ap.Evidence.Reserved(ctx, s.Run); err != nil {
			return ap.cannotApply(ctx, s, err)
		}
	}
	if d := admission.Decide(q); !d.Allowed() && !d.PlanAgain() {
		return ap.refuse(ctx, s, d)
	}
	if away, err := ap.away(ctx, s, job); away || err != nil {
		return err
	}
	if s, err = ap.Ledger.Save(ctx, s.To(runs.Applying)); err != nil {
		return err // a conflict: another process applies it
	}
	if err := ap.Report.PutCheck(ctx, s.Run); err != nil {
		return err
	}
	return ap.carryOut(ctx, s, q, plan, job, in)
}

// compare checks out the present trial merge, or the commit that the pull request became, or the base branch as it is now, and adds
// the differing inputs to q. It sets the commits of q.Run: the one that is checked out, and the base, by which rights are
// granted from then on.
func (ap *Applier) compare(ctx context.Context, q *admission.Request) (dir string, now ledger.Inputs, done func(), err error) {
	sha := ap.Evidence.Pull.MergeSHA
	if q.Entry == admission.ByComment || q.Run.Asked.Late {
		m, err := ap.Evidence.Merged(ctx, q)
		if err != nil {
			return "", now, nil, err
		}
		if !admission.Decide(*q).Allowed() {
			return "", now, func() {}, nil
		}
		q.Run = runs.Against(q.Run, m, ap.Evidence.Pull.Merged)
		if err := evidence.Restored(ctx, ap.Evidence, q, m.SHA); err != nil {
			return "", now, nil, err
		}
		if !admission.Decide(*q).Allowed() {
			return "", now, func() {}, nil
		}
		sha = q.Run.Spec.Merge
		if err := ap.Evidence.Occasion(ctx, &q.Run); err != nil {
			return "", now, nil, err
		}
	} else {
		q.Run.Spec.Base = sha
	}
	q.Run.Spec.Merge = sha
	if dir, done, err = ap.Evidence.Checkout(ctx, sha); err != nil {
		return "", now, nil, err
	}
	planned, err := ledger.LoadInputs(ctx, ap.Artifacts, q.Run)
	if errors.Is(err, ledger.ErrExchanged) {
		q.Kept = err.Error()
		return dir, now, done, nil
	}
	if err == nil {
		now = ledger.Inputs{Read: planned.Read, Whole: planned.Whole}
		now.Tree, now.Own, err = planrun.ReadInputs(ctx, ap.Projects, dir, q.Run, planned.Scope())
		if errors.Is(err, jobs.ErrNoProject) {
			q.Differ, q.Whole = slices.Sorted(maps.Keys(planned.Tree)), planned.Whole
			if err = evidence.Broken(ctx, ap.Evidence, q, dir); err == nil {
				return dir, now, done, nil // the project is gone: all inputs differ
			}
			done()
			return "", now, nil, err
		}
		moved := planned.Compare(now, q.Run)
		q.Differ, q.Blocks, q.Around, q.Whole = moved.Own, moved.Blocks, moved.Around, planned.Whole
	}
	if err != nil {
		done()
		return "", now, nil, err
	}
	return dir, now, done, nil
}

// lost is the refusal d of an apply that has waited since its merge, or another one with the reason why all files differ: that the base
// branch has removed the project since, or has given it another name.
func lost(ctx context.Context, ap *Applier, q admission.Request, d admission.Decision) (admission.Decision, error) {
	if !q.Run.Asked.Late || !admission.Has[reasons.InputsMoved](d) {
		return d, nil
	}
	_, has, known, err := evidence.Has(ctx, ap.Evidence, q.Run.Spec.Merge, q.Run)
	if err != nil || has || !known {
		return d, err
	}
	name, err := evidence.Successor(ctx, ap.Evidence, q.Run.Spec.Merge, q.Run)
	if name != "" || err != nil {
		return admission.Refusal(reasons.RenamedByBase{Project: runs.Label(q.Run), Name: name, Verb: comment.Retry}), err
	}
	return admission.Refusal(reasons.RemovedByBase{Projects: []string{runs.Label(q.Run)}}), nil
}

// carryOut applies a plan. The engine asks the gate again with the state locked and known: from
// then on nothing can move.
func (ap *Applier) carryOut(ctx context.Context, s ledger.Versioned, q admission.Request, plan []byte, job jobs.Job, in ledger.Inputs) error {
	c := &carriage{ap: ap, run: s, plan: plan, job: job}
	p := &permission{ap: ap, carriage: c, q: q, in: in}
	c.permit = p.decide
	outcome, err := c.carry(ctx)
	switch {
	case c.failed != nil:
		return fmt.Errorf("apply %s: %w", s.Project, c.failed)
	case c.begun.Version != "":
		return c.end(ctx, outcome, err)
	case err != nil:
		return fmt.Errorf("apply %s: %w", s.Project, err)
	case len(outcome.Moved) > 0:
		q.Modules = outcome.Moved
		return ap.refuse(ctx, s, admission.Decide(q))
	case outcome.Refused && p.again != nil && !p.again.Equal && admission.Has[reasons.PlanDiffers](p.last):
		return ap.differs(ctx, p, planrun.Replacement{Again: *p.again, Job: job, Inputs: in})
	case outcome.Refused:
		return ap.refuse(ctx, p.judged(s), p.last)
	}
	return ap.Untouched(ctx, s, outcome)
}

// unlessStopped refuses an apply that was not begun, if somebody has stopped it.
func (ap *Applier) unlessStopped(ctx context.Context, r runs.Run) (admission.Decision, error) {
	stop, err := ap.Ledger.StopOf(ctx, r)
	if err != nil || stop == nil {
		return admission.Decision{}, err
	}
	return admission.Refusal(reasons.WasStopped{By: stop.By, Merged: r.ByMerge()}), nil
}
