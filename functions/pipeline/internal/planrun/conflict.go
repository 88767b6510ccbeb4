package planrun

import (
	"context"
	"errors"
	"slices"

	"github.com/lockstep-iac/lockstep/functions/pipeline"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/ledger"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/report"
	"github.com/lockstep-iac/lockstep/functions/pipeline/runs"
)

// Conflict records that the head of a pull request conflicts with the base branch, so that its plans are out of
// date: see [runs.Conflicting]. last is the key of the run that is recorded last. So if the process dies, the
// message for that run repeats everything. The checks are written before the records. The caller must then
// update the comments.
func Conflict(ctx context.Context, rp *report.Reporter, ld ledger.Ledger, about pipeline.Pull, head, last string) error {
	err := ld.ChangeLook(ctx, about, func(l *ledger.Look) {
		if l.Head == head {
			l.Conflict, l.Told = true, true
		}
	})
	if err != nil {
		return err
	}
	all, err := ld.Runs(ctx, about)
	if err != nil {
		return err
	}
	slices.SortStableFunc(all, func(a, b ledger.Versioned) int {
		switch last {
		case a.Key():
			return 1
		case b.Key():
			return -1
		}
		return 0
	})
	for _, s := range all {
		r, ok := runs.Conflicting(s.Run, head)
		if !ok {
			continue
		}
		if err := rp.Announce(ctx, s.Run); err != nil {
			return err
		}
		if err := rp.PutCheck(ctx, r); err != nil {
			return err
		}
		s.Run = r
		if _, err := ld.Save(ctx, s); err != nil && !errors.Is(err, pipeline.ErrConflict) {
			return err
		}
	}
	return nil
}
