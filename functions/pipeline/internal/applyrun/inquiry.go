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
	"github.com/lockstep-iac/lockstep/functions/project/requirements"
	"github.com/lockstep-iac/lockstep/github"
)

// An inquiry reads facts that only an apply needs: the saved plan, the present trial merge, its files, and the
// address of the state there.
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

// ask asks the gate, with all facts that it needs before an apply.
func (x *inquiry) ask(ctx context.Context) (d admission.Decision, err error) {
	r := x.s.Run
	r.Phase = runs.Planned // as the gate saw it when the apply was queued: only this message is new
	x.q, d, err = x.ap.Facts.Ask(ctx, x.ap.Facts.Request(comment.Apply, r), gatefacts.Sources{
		admission.ShownPlan:    x.ap.Facts.CompareShown,
		admission.SavedPlan:    x.saved,
		admission.PresentMerge: ofCommit(x.trialMerge),
		admission.Removal:      ofCommit(x.restored),
		admission.PresentFiles: ofCommit(x.files),
		admission.StatePlace:   x.place,
	})
	if err != nil || d.Allowed() || d.PlanAgain() {
		return admission.Decision{}, err
	}
	return refineRefusal(ctx, x.ap, x.q, d)
}

// ofCommit returns a source of facts that reads a commit. It handles the case that the commit no longer exists
// on GitHub.
func ofCommit(read gatefacts.Source) gatefacts.Source {
	return func(ctx context.Context, q *admission.Request) error {
		err := read(ctx, q)
		if errors.Is(err, github.ErrNotFound) {
			q.Gone, err = err.Error(), nil
		}
		return err
	}
}

// saved reads the saved plan.
func (x *inquiry) saved(ctx context.Context, q *admission.Request) (err error) {
	x.plan, err = x.ap.Artifacts.Get(ctx, x.s.AppliedPlan())
	if errors.Is(err, pipeline.ErrNoArtifact) {
		q.Run.Phase = runs.New // the plan was deleted
		return nil
	}
	q.Saved = runs.HashOf(x.plan)
	return err
}

// present reports whether the plan must be compared with the present base branch, and not with the merge.
func present(q *admission.Request) bool { return q.Entry == admission.ByComment || q.Run.Asked.Late }

// trialMerge gets the present trial merge of the pull request. After the merge, it gets the tip of the base
// branch.
func (x *inquiry) trialMerge(ctx context.Context, q *admission.Request) (err error) {
	if present(q) {
		x.merge, err = x.ap.Facts.TrialMerge(ctx, q)
	}
	return err
}

// restored sets the commits of the run: the one to check out, and the base commit, which grants rights. If the
// plan is not compared with the present base branch, both are the commit of the merge. It also finds out
// whether a removed project exists.
func (x *inquiry) restored(ctx context.Context, q *admission.Request) error {
	if !present(q) {
		q.Run.Spec.Base, q.Run.Spec.Merge = x.ap.Facts.Pull.MergeSHA, x.ap.Facts.Pull.MergeSHA
		return nil
	}
	q.Run = runs.WithTrialMerge(q.Run, x.merge, x.ap.Facts.Pull.Merged)
	return gatefacts.Restored(ctx, x.ap.Facts, q, x.merge.SHA)
}

// files checks out the commit, and compares the plan's inputs with the files there. It also finds out whether a
// comment or the merge applies the project, according to the base branch.
func (x *inquiry) files(ctx context.Context, q *admission.Request) error {
	if present(q) {
		if err := x.ap.Facts.SetApplyOn(ctx, &q.Run); err != nil {
			return err
		}
	}
	dir, done, err := x.ap.Facts.Checkout(ctx, q.Run.Spec.Merge)
	if err != nil {
		return err
	}
	x.dir, x.done = dir, done
	if q.Ungenerated, err = x.ap.Steps.Generate(ctx, q.Run, dir, asksAgain(*q)); err != nil || q.Ungenerated != nil {
		return err
	}
	planned, err := ledger.LoadInputs(ctx, x.ap.Artifacts, q.Run)
	if errors.Is(err, ledger.ErrExchanged) {
		q.Kept = err.Error()
		return nil
	}
	if err != nil {
		return err
	}
	x.in = ledger.Inputs{Read: planned.Read, Whole: planned.Whole}
	x.in.Tree, x.in.Own, err = planrun.ReadInputs(ctx, x.ap.Projects, x.dir, q.Run, planned.Scope())
	if errors.Is(err, jobs.ErrNoProject) { // the project is gone: all inputs differ
		q.Differ, q.Whole = slices.Sorted(maps.Keys(planned.Tree)), planned.Whole
		return gatefacts.NoteBrokenSettings(ctx, x.ap.Facts, q, x.dir)
	}
	if err != nil {
		return err
	}
	moved := planned.Compare(x.in, q.Run)
	q.Differ, q.Blocks, q.Around, q.Whole = moved.Own, moved.Blocks, moved.Around, planned.Whole
	return x.ap.noteGenerators(ctx, q)
}

// noteGenerators notes in a request whether steps may have made the files that differ.
func (ap *Applier) noteGenerators(ctx context.Context, q *admission.Request) error {
	if len(q.Differ)+len(q.Blocks)+len(q.Around) == 0 {
		return nil
	}
	l, err := ap.Steps.List(ctx, requirements.Generate, q.Run)
	q.Generated = !l.Empty()
	return err
}

// place finds the address of the state, the rights that the base branch grants, and what can block the apply
// there: the last apply to the state, and a person's lock.
func (x *inquiry) place(ctx context.Context, q *admission.Request) (err error) {
	if x.job, q.Unusable, err = x.ap.Facts.Job(ctx, q, x.dir); err != nil {
		return err
	}
	if q.Unusable != "" {
		return gatefacts.NoteBrokenSettings(ctx, x.ap.Facts, q, x.dir)
	}
	if q.Provisioners = x.job.Grants.Provisioners; !ledger.FollowMove(&x.s.Run, *q.Placing) {
		return nil
	}
	if q.Last, err = x.ap.Facts.LastApply(ctx, x.s.Run); err != nil {
		return err
	}
	q.Reserved, err = x.ap.Facts.Reserved(ctx, x.s.Run)
	return err
}

// refineRefusal returns a better refusal than d, if it knows one, for an apply that has waited since the merge.
// If all files differ, the better one says why: the base branch has removed or renamed the project.
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
