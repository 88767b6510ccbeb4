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

// Conflict records that the head of a pull request conflicts with the base branch: its plans are out of date, see
// [runs.Conflicting]. That of the run with the key last comes last, so that whoever was to work on it comes back after a death. The
// checks come before the records, and a sync of the comments is for the caller.
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
