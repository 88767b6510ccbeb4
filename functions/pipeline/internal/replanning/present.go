package replanning

import (
	"context"
	"errors"

	"github.com/lockstep-iac/lockstep/functions/comment"
	"github.com/lockstep-iac/lockstep/functions/comment/reasons"
	"github.com/lockstep-iac/lockstep/functions/pipeline/gatefacts"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/admission"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/ledger"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/planrun"
	"github.com/lockstep-iac/lockstep/functions/pipeline/jobs"
	"github.com/lockstep-iac/lockstep/functions/pipeline/runs"
	"github.com/lockstep-iac/lockstep/github"
)

// present returns a request to the gate for the plan of a run as it would be made now, from the present trial
// merge. no are the gate's reasons against the plan.
func (c *Checker) present(ctx context.Context, r runs.Run) (q admission.Request, no reasons.List, err error) {
	var m github.Merge
	merge := func(ctx context.Context, q *admission.Request) (err error) {
		if m, err = c.Facts.TrialMerge(ctx, q); err == nil && m.Head != r.Spec.Head {
			err = planrun.ErrSuperseded
		}
		q.Run = runs.WithTrialMerge(q.Run, m, c.Facts.Pull.Merged)
		return err
	}
	removal := func(ctx context.Context, q *admission.Request) error {
		return gatefacts.Restored(ctx, c.Facts, q, m.SHA)
	}
	own := gatefacts.Sources{admission.PresentMerge: merge, admission.Removal: removal}
	q, d, err := c.Facts.Ask(ctx, c.Facts.Request(comment.Plan, r), own)
	if err != nil || !d.Allowed() {
		return q, d.Reasons, err
	}
	return q, nil, c.Facts.SetApplyOn(ctx, &q.Run)
}

// inputs compares the files of the plan with those in a checkout, and sets the differences in q. It returns the
// inputs in the checkout. gone is set if the checkout does not have the project, although its settings have no
// errors.
func (c *Checker) inputs(ctx context.Context, dir string, q *admission.Request) (now ledger.Inputs, gone bool, err error) {
	planned, err := ledger.LoadInputs(ctx, c.Artifacts, q.Run)
	if errors.Is(err, ledger.ErrExchanged) {
		q.Kept, err = err.Error(), nil
	}
	if err != nil {
		return now, false, err
	}
	now = ledger.Inputs{Read: planned.Read, Whole: planned.Whole}
	now.Tree, now.Own, err = planrun.ReadInputs(ctx, c.Projects, dir, q.Run, planned.Scope())
	if errors.Is(err, jobs.ErrNoProject) {
		d, err := c.Projects.Discover(ctx, dir)
		return now, err == nil && d.Problem == "", nil // the search for its state reports the problem
	}
	moved := planned.Compare(now, q.Run)
	q.Differ, q.Blocks, q.Around, q.Whole = moved.Own, moved.Blocks, moved.Around, planned.Whole
	return now, false, err
}
