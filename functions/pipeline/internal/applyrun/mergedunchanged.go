package applyrun

import (
	"context"
	"errors"
	"slices"

	"github.com/lockstep-iac/lockstep/functions/pipeline"
	"github.com/lockstep-iac/lockstep/functions/pipeline/gatefacts"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/ledger"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/openplans"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/planrun"
	"github.com/lockstep-iac/lockstep/functions/pipeline/jobs"
	"github.com/lockstep-iac/lockstep/functions/pipeline/runs"
	"github.com/lockstep-iac/lockstep/github"
)

// mergedUnchanged checks a run whose plan has no changes, so that its merge applies nothing. After the merge
// there may still be changes, for two reasons:
//   - The state was applied after the plan was made. If that apply is in progress, waits is set: the plan waits
//     for its end, and is checked then.
//   - The merge has other files than those from which the plan was made. That is recorded in the run. Lockstep
//     plans the run from the base branch after it was dropped.
func mergedUnchanged(ctx context.Context, cl *Closer, s *ledger.Versioned) (waits bool, err error) {
	last, err := cl.Ledger.LastApply(ctx, s.Run)
	if err != nil {
		return false, err
	}
	queue, err := cl.Ledger.Queue(ctx, s.Run)
	if err != nil {
		return false, err
	}
	now, err := cl.Ledger.Applies(ctx, s.Run)
	if err != nil {
		return false, err
	}
	others := slices.ContainsFunc(queue, func(t runs.Turn) bool { return t.Pull.Number != s.Pull.Number })
	if !others && last.Count() <= s.Plan.Applies && !openplans.ReadsOutdated(s.Run, now) {
		if s.End.Differs {
			return false, nil
		}
		if s.End.Differs, err = otherFiles(ctx, cl, s.Run); err == nil && s.End.Differs {
			*s, err = cl.Ledger.Save(ctx, *s)
		}
		return false, err
	}
	s.Spec.AfterMerge = true
	if *s, err = cl.Ledger.Save(ctx, *s); err != nil {
		return false, err
	}
	return true, checkWaiting(ctx, cl, s.Run)
}

// checkWaiting sends a message to check a plan without changes, after the merge. It does so when the apply for
// which the plan waits has ended. It can be repeated.
func checkWaiting(ctx context.Context, cl *Closer, r runs.Run) error {
	if err := cl.Open.CheckNew(ctx, r); err != nil {
		return err
	}
	return cl.Report.AtRest(ctx, r)
}

// otherFiles reports whether the commit of the merge has other files than those from which the run's plan was
// made or last checked. If programs of the base branch may read all files, it ignores those outside of the
// configuration.
func otherFiles(ctx context.Context, cl *Closer, r runs.Run) (bool, error) {
	dir, done, err := cl.Facts.Checkout(ctx, cl.Facts.Pull.MergeSHA)
	if errors.Is(err, github.ErrNotFound) {
		return false, nil
	}
	if err != nil {
		_, err = gatefacts.FinalRefusal(gatefacts.DiskFull(err))
		return false, err
	}
	defer done()
	planned, err := ledger.LoadInputs(ctx, cl.Artifacts, r)
	if errors.Is(err, pipeline.ErrNoArtifact) {
		return false, nil // an earlier attempt found none, and died while it dropped the plan
	}
	if errors.Is(err, ledger.ErrExchanged) {
		return true, nil
	}
	if err != nil {
		return false, err
	}
	merged := ledger.Inputs{Read: planned.Read, Whole: planned.Whole}
	merged.Tree, merged.Own, err = planrun.ReadInputs(ctx, cl.Facts.Projects, dir, r, planned.Scope())
	if errors.Is(err, jobs.ErrNoProject) {
		return false, nil // there is nothing to plan
	}
	if err != nil {
		_, err = gatefacts.FinalRefusal(err)
		return false, err
	}
	moved := planned.Compare(merged, r)
	checked := r.Plan.Checked != nil && r.Plan.Checked.Inputs == merged.Hash()
	return !checked && len(moved.Own)+len(moved.Blocks) > 0, nil
}
