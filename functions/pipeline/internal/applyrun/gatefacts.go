package applyrun

import (
	"context"
	"errors"
	"maps"
	"slices"

	"github.com/lockstep-iac/lockstep/functions/comment"
	"github.com/lockstep-iac/lockstep/functions/comment/reasons"
	"github.com/lockstep-iac/lockstep/functions/pipeline"
	"github.com/lockstep-iac/lockstep/functions/pipeline/gatefacts"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/admission"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/ledger"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/planrun"
	"github.com/lockstep-iac/lockstep/functions/pipeline/jobs"
	"github.com/lockstep-iac/lockstep/functions/pipeline/runs"
	"github.com/lockstep-iac/lockstep/github"
)

// An inquiry reads everything that is needed before an apply, from the cheapest fact to the most expensive. The
// gate is asked after each step, always with all facts read so far. No fact is read twice.
type inquiry struct {
	ap *Applier
	s  ledger.Versioned
	q  admission.Request
	// plan is the saved plan, and merge the present trial merge. dir is the checkout of the applied commit,
	// with its inputs; done removes it. job is the engine's task there.
	plan  []byte
	merge github.Merge
	dir   string
	done  func()
	in    ledger.Inputs
	job   jobs.Job
}

// A fact is a step of an inquiry. read reads the fact, and may already refuse the apply.
type fact struct {
	read func(*inquiry, context.Context) (admission.Decision, error)
	// commit is set if GitHub may have deleted the commit by now. again is set if the step may find that the
	// plan is out of date. The apply then continues, and makes the plan again.
	commit, again bool
}

// facts are the steps of an inquiry, in their order.
var facts = []fact{
	{read: (*inquiry).request},
	{read: (*inquiry).saved},
	{read: (*inquiry).trialMerge, commit: true},
	{read: (*inquiry).restored, commit: true},
	{read: (*inquiry).files, commit: true, again: true},
	{read: (*inquiry).place, again: true},
}

// ask reads the facts, and asks the gate after each.
func (x *inquiry) ask(ctx context.Context) (admission.Decision, error) {
	for _, f := range facts {
		d, err := f.read(x, ctx)
		if f.commit && errors.Is(err, github.ErrNotFound) {
			return admission.Refusal(reasons.CommitGone{Problem: err.Error()}), nil
		}
		if err != nil || !d.Allowed() {
			return d, err
		}
		d = admission.Decide(x.q)
		switch {
		case d.Allowed() || f.again && d.PlanAgain():
		case f.commit:
			return refineRefusal(ctx, x.ap, x.q, d)
		default:
			return d, nil
		}
	}
	return admission.Decision{}, nil
}

// request reads the facts that every command needs.
func (x *inquiry) request(ctx context.Context) (_ admission.Decision, err error) {
	r := x.s.Run
	r.Phase = runs.Planned // as the gate saw it when the apply was queued: only this message is new
	x.q, err = x.ap.Facts.Request(ctx, comment.Apply, r)
	return admission.Decision{}, err
}

// saved reads the saved plan, and its hash in our check run on GitHub.
func (x *inquiry) saved(ctx context.Context) (no admission.Decision, err error) {
	x.plan, err = x.ap.Artifacts.Get(ctx, x.s.AppliedPlan())
	if errors.Is(err, pipeline.ErrNoArtifact) {
		x.q.Run.Phase = runs.New // the plan was deleted
		return no, nil
	}
	if err != nil {
		return no, err
	}
	if err := x.ap.Facts.CompareShown(ctx, &x.q); err != nil {
		return no, err
	}
	x.q.Saved = asApplied(&x.q, x.plan)
	return no, nil
}

// present reports whether the plan is compared with the present base branch.
func (x *inquiry) present() bool { return x.q.Entry == admission.ByComment || x.q.Run.Asked.Late }

// trialMerge gets the present trial merge, or the present base branch.
func (x *inquiry) trialMerge(ctx context.Context) (no admission.Decision, err error) {
	if x.present() {
		x.merge, err = x.ap.Facts.TrialMerge(ctx, &x.q)
	}
	return no, err
}

// restored sets the commits of the run: the commit that is checked out, and the base, which grants rights from
// then on. If the plan is not compared with the present base branch, both are the commit of the merge. restored
// also reads whether a removed project exists.
func (x *inquiry) restored(ctx context.Context) (no admission.Decision, err error) {
	if !x.present() {
		x.q.Run.Spec.Base, x.q.Run.Spec.Merge = x.ap.Facts.Pull.MergeSHA, x.ap.Facts.Pull.MergeSHA
		return no, nil
	}
	x.q.Run = runs.WithTrialMerge(x.q.Run, x.merge, x.ap.Facts.Pull.Merged)
	return no, gatefacts.Restored(ctx, x.ap.Facts, &x.q, x.merge.SHA)
}

// files checks out the commit, and compares the inputs of the plan with those there. The base branch decides
// whether a comment or the merge applies.
func (x *inquiry) files(ctx context.Context) (no admission.Decision, err error) {
	if x.present() {
		if err := x.ap.Facts.SetApplyOn(ctx, &x.q.Run); err != nil {
			return no, err
		}
	}
	dir, done, err := x.ap.Facts.Checkout(ctx, x.q.Run.Spec.Merge)
	if err != nil {
		return no, err
	}
	x.dir, x.done = dir, done
	planned, err := ledger.LoadInputs(ctx, x.ap.Artifacts, x.q.Run)
	if errors.Is(err, ledger.ErrExchanged) {
		x.q.Kept = err.Error()
		return no, nil
	}
	if err != nil {
		return no, err
	}
	x.in = ledger.Inputs{Read: planned.Read, Whole: planned.Whole}
	x.in.Tree, x.in.Own, err = planrun.ReadInputs(ctx, x.ap.Projects, x.dir, x.q.Run, planned.Scope())
	if errors.Is(err, jobs.ErrNoProject) { // the project is gone: all inputs differ
		x.q.Differ, x.q.Whole = slices.Sorted(maps.Keys(planned.Tree)), planned.Whole
		return no, gatefacts.NoteBrokenSettings(ctx, x.ap.Facts, &x.q, x.dir)
	}
	moved := planned.Compare(x.in, x.q.Run)
	x.q.Differ, x.q.Blocks, x.q.Around, x.q.Whole = moved.Own, moved.Blocks, moved.Around, planned.Whole
	return no, err
}

// place reads the address of the state, the grants of the base branch, and what can block the apply there: the
// last apply to the state, and the lock of a person.
func (x *inquiry) place(ctx context.Context) (no admission.Decision, err error) {
	job, problem, err := x.ap.Facts.Job(ctx, &x.q, x.dir)
	if err != nil {
		return no, err
	}
	if problem != "" {
		if err := gatefacts.NoteBrokenSettings(ctx, x.ap.Facts, &x.q, x.dir); err != nil {
			return no, err
		}
		if d := admission.Decide(x.q); admission.Has[reasons.SettingsBroken](d) {
			return d, nil
		}
		return admission.Refusal(reasons.Unusable{Problem: problem}), nil
	}
	x.job, x.q.Provisioners = job, job.Grants.Provisioners
	if !ledger.FollowMove(&x.s.Run, *x.q.Placing) {
		return no, nil
	}
	if x.q.Last, err = x.ap.Facts.LastApply(ctx, x.s.Run); err != nil {
		return no, err
	}
	x.q.Reserved, err = x.ap.Facts.Reserved(ctx, x.s.Run)
	return no, err
}

// refineRefusal returns the refusal d of an apply that has waited since its merge, or a better one. If all
// files differ, the better one says why: the base branch has removed or renamed the project since.
func refineRefusal(ctx context.Context, ap *Applier, q admission.Request, d admission.Decision) (admission.Decision, error) {
	if !q.Run.Asked.Late || !admission.Has[reasons.InputsMoved](d) {
		return d, nil
	}
	_, has, known, err := gatefacts.ProjectAt(ctx, ap.Facts, q.Run.Spec.Merge, q.Run)
	if err != nil || has || !known {
		return d, err
	}
	name, err := gatefacts.Successor(ctx, ap.Facts, q.Run.Spec.Merge, q.Run)
	if name != "" || err != nil {
		return admission.Refusal(reasons.RenamedByBase{Project: runs.Label(q.Run), Name: name, Verb: comment.Retry}), err
	}
	return admission.Refusal(reasons.RemovedByBase{Projects: []string{runs.Label(q.Run)}}), nil
}
