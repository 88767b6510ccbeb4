// Package showing tells of a run by the records alone: what is in the way of its apply, its place in the queue of its state, and
// how the requirements for it were decided on last. It is for pages, which may be looked at often: no request goes to GitHub. So a
// pull request that was closed a moment ago can be in the way still, until its webhook has come.
//
// It refuses to write anything, and to know pages. Start at [Project].
package showing

import (
	"context"

	"github.com/lockstep-iac/lockstep/functions/comment"
	"github.com/lockstep-iac/lockstep/functions/pipeline"
	"github.com/lockstep-iac/lockstep/functions/pipeline/gates"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/ledger"
	"github.com/lockstep-iac/lockstep/functions/pipeline/questions"
	"github.com/lockstep-iac/lockstep/functions/pipeline/runs"
)

// Project returns the status of a run's project. It has no texts of the plan or the apply.
func Project(ctx context.Context, records pipeline.Records, r runs.Run) (comment.ProjectStatus, error) {
	p, ld := runs.Status(r), ledger.Ledger{Records: records}
	switch p.Standing {
	case comment.ApplyQueued:
		queue, err := ld.Queue(ctx, r)
		p.Ahead = runs.Before(queue, r)
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
		return p, required(ctx, records, r, &p)
	}
	return p, nil
}

// required adds the decision about the requirements for the apply of a run's head, as somebody has asked for it last.
func required(ctx context.Context, records pipeline.Records, r runs.Run, p *comment.ProjectStatus) error {
	all, err := questions.Of(ctx, records, r.Pull.Repo, r.Pull.Number)
	if err != nil {
		return err
	}
	for _, a := range all {
		mine := a.Project == r.Project && a.Workspace == r.Workspace && a.SHA == r.Head
		if mine && a.Command == string(comment.Apply) && !a.TooLarge {
			ruling := gates.Decide(a.Question)
			p.Required = &ruling
		}
	}
	return nil
}
