package applyrun

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/lockstep-iac/lockstep/functions/comment"
	"github.com/lockstep-iac/lockstep/functions/pipeline/evidence"
	"github.com/lockstep-iac/lockstep/functions/pipeline/jobs"
	"github.com/lockstep-iac/lockstep/functions/pipeline/ledger"
	"github.com/lockstep-iac/lockstep/functions/pipeline/runs"
	"github.com/lockstep-iac/lockstep/github"
)

// Unlock releases the locks that earlier applies of the pull request left behind.
func (un *Unlocker) Unlock(ctx context.Context, c comment.Command) ([]comment.Reply, error) {
	all, err := un.Ledger.Runs(ctx, un.Evidence.Message.Pull)
	if err != nil {
		return nil, err
	}
	all = slices.DeleteFunc(all, func(s ledger.Versioned) bool { return !c.Selects(s.Project, s.Dir, s.Workspace) })
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
	q, err := un.Evidence.Request(ctx, comment.Unlock, r)
	if err != nil {
		return evidence.Unable(c, r.Project, err)
	}
	if d := runs.Gate(q); !d.Allowed() {
		return evidence.Refused(c, r.Project, d), nil
	}
	// The lock was taken with the configuration of the merge, which GitHub forgets after some time.
	dir, done, err := un.Evidence.Checkout(ctx, r.Merge)
	if errors.Is(err, github.ErrNotFound) {
		dir, done, err = un.Evidence.Checkout(ctx, r.Head)
	}
	if errors.Is(err, github.ErrNotFound) {
		return evidence.Refused(c, r.Project, runs.Refusal(comment.CommitGone{Problem: err.Error()})), nil
	}
	if err != nil {
		return evidence.Unable(c, r.Project, err)
	}
	defer done()
	job, problem, err := un.Evidence.Job(ctx, &q, dir)
	if err != nil {
		return evidence.Unable(c, r.Project, err)
	}
	if d := runs.Gate(q); !d.Allowed() {
		return evidence.Refused(c, r.Project, d), nil
	}
	if problem != "" {
		return evidence.Refused(c, r.Project, runs.Refusal(comment.Unusable{Problem: problem})), nil
	}
	u, err := un.Engine.Unlock(ctx, job)
	var no *jobs.StateError
	if errors.As(err, &no) {
		return evidence.Refused(c, r.Project, runs.Refusal(comment.StateUnreachable{Problem: un.Report.Clean(no.Why), Remedy: no.Remedy})), nil
	}
	return comment.Unlocked{Project: r.Project, Locks: u.Locks, Others: u.Others}, err
}
