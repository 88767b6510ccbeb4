// Package showing makes the status of a run from the records alone: the obstacles to its apply, its place in the queue of its
// state, and the decision about its requirements, as in its check run. It is for pages, which may be looked at often: no request
// goes to GitHub. So a pull request that was closed a moment ago can be an obstacle still, until its webhook has come.
//
// It refuses to write anything, and to know pages. Start at [Project].
package showing

import (
	"context"

	"github.com/lockstep-iac/lockstep/functions/comment"
	"github.com/lockstep-iac/lockstep/functions/comment/rulings"
	"github.com/lockstep-iac/lockstep/functions/pipeline"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/ledger"
	"github.com/lockstep-iac/lockstep/functions/pipeline/runs"
)

// Project returns the status of a run's project. It has no texts of the plan or the apply.
func Project(ctx context.Context, records pipeline.Records, r runs.Run) (comment.ProjectStatus, error) {
	p, ld := runs.Status(r), ledger.Ledger{Records: records}
	switch p.Standing {
	case comment.ApplyQueued:
		queue, err := ld.Queue(ctx, r)
		p.Ahead = runs.AheadOf(queue, r)
		return p, err
	case comment.Ready, comment.OnMerge, comment.Renewed:
		last, err := ld.LastApply(ctx, r)
		if err != nil {
			return p, err
		}
		lock, err := ld.Reservation(ctx, r)
		if err != nil {
			return p, err
		}
		runs.Block(&p, r, last, lock)
		p.Required, err = required(ctx, records, r)
		return p, err
	}
	return p, nil
}

// required returns the decision about the requirements for the apply of a run, as its check run tells it.
func required(ctx context.Context, records pipeline.Records, r runs.Run) (*rulings.Ruling, error) {
	rec, err := records.Get(ctx, runs.CheckKey(r))
	if err != nil {
		return nil, err
	}
	c, err := runs.DecodeCheck(rec.Value)
	return c.Required, err
}
