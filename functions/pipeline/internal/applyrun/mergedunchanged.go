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

// mergedUnchanged looks whether a merge that applies nothing of a run, as its plan has no changes, has any by now: with an apply to the state
// that the plan does not know, or with other files than it was made of. The former may be under way, so the plan waits for the end of
// that, as one after the merge, and is checked then: waits is set. The latter is noted in the run, which is planned of the base branch
// once it is dropped.
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
	if !others && last.Count() <= s.Plan.Applies && !openplans.Outdated(s.Run, now) {
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
	return true, awaits(ctx, cl, s.Run)
}

// awaits has a plan without changes that waits after the merge checked, if what it waits for is done. It can be repeated.
func awaits(ctx context.Context, cl *Closer, r runs.Run) error {
	if err := cl.Open.Kept(ctx, r); err != nil {
		return err
	}
	return cl.Report.AtRest(ctx, r)
}

// otherFiles reports whether the commit that a pull request became has other files than those that the plan of a run was made of, or
// was checked with last. Programs of the base branch may read all files: those around the configuration do not count.
func otherFiles(ctx context.Context, cl *Closer, r runs.Run) (bool, error) {
	dir, done, err := cl.Facts.Checkout(ctx, cl.Facts.Pull.MergeSHA)
	if errors.Is(err, github.ErrNotFound) {
		return false, nil
	}
	if err != nil {
		_, err = gatefacts.Impossible(gatefacts.Room(err))
		return false, err
	}
	defer done()
	planned, err := ledger.LoadInputs(ctx, cl.Artifacts, r)
	if errors.Is(err, pipeline.ErrNoArtifact) {
		return false, nil // an earlier try has found none, and died while it dropped the plan
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
		_, err = gatefacts.Impossible(err)
		return false, err
	}
	moved := planned.Compare(merged, r)
	checked := r.Plan.Checked != nil && r.Plan.Checked.Inputs == merged.Hash()
	return !checked && len(moved.Own)+len(moved.Blocks) > 0, nil
}
