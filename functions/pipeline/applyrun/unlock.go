package applyrun

import (
	"context"
	"fmt"
	"slices"

	"github.com/lockstep-iac/lockstep/functions/comment"
	"github.com/lockstep-iac/lockstep/functions/pipeline/evidence"
	"github.com/lockstep-iac/lockstep/functions/pipeline/jobs"
	"github.com/lockstep-iac/lockstep/functions/pipeline/ledger"
	"github.com/lockstep-iac/lockstep/functions/pipeline/runs"
)

// Unlock releases the locks that earlier applies of the pull request left behind.
func (un *Unlocker) Unlock(ctx context.Context, c comment.Command) ([]comment.Reply, error) {
	all, err := un.Ledger.Runs(ctx, un.Evidence.Message.Pull)
	if err != nil {
		return nil, err
	}
	all = slices.DeleteFunc(all, func(s ledger.Versioned) bool { return !s.Meant(c) })
	if len(all) == 0 {
		return []comment.Reply{evidence.Refused(c, "", runs.Refusal(comment.NothingToUnlock{}))}, nil
	}
	var replies []comment.Reply
	for _, s := range all {
		reply, err := un.unlockOne(ctx, c, s.Run)
		if err != nil {
			return nil, fmt.Errorf("unlock %s: %w", s.Project, err)
		}
		replies = append(replies, reply)
	}
	return replies, nil
}

func (un *Unlocker) unlockOne(ctx context.Context, c comment.Command, r runs.Run) (comment.Reply, error) {
	return reach{un.Evidence, un.Report, c}.do(ctx, r, func(j jobs.Job) (comment.Reply, error) {
		u, err := un.Engine.Unlock(ctx, j)
		return comment.Unlocked{Project: r.Project, Locks: u.Locks, Others: u.Others}, err
	})
}
