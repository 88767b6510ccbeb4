package reserving

import (
	"context"
	"slices"

	"github.com/lockstep-iac/lockstep/functions/comment"
	"github.com/lockstep-iac/lockstep/functions/comment/reasons"
	"github.com/lockstep-iac/lockstep/functions/pipeline/evidence"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/ledger"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/openplans"
	"github.com/lockstep-iac/lockstep/functions/pipeline/runs"
)

// A Locker carries out commands that lock states.
type Locker struct {
	Evidence *evidence.Reader
	Ledger   ledger.Ledger
	Open     openplans.Finder
}

// Lock keeps the states of all projects that a command selects for the pull request. It can be repeated:
// a later lock of the same pull request takes the place of the earlier one.
func (lo *Locker) Lock(ctx context.Context, c comment.Command) ([]comment.Reply, error) {
	// Who may not ask is told nothing of the runs, not even that there are none.
	q, err := lo.Evidence.Request(ctx, comment.Lock, runs.Run{})
	if err != nil {
		no, err := evidence.Unable(c, c.Project, err)
		return []comment.Reply{no}, err
	}
	if d := runs.Gate(q); !d.Allowed() {
		return []comment.Reply{evidence.Refused(c, c.Project, d)}, nil
	}
	all, err := lo.Ledger.Runs(ctx, lo.Evidence.Message.Pull)
	if err != nil {
		return nil, err
	}
	all = slices.DeleteFunc(all, func(s ledger.Versioned) bool {
		return s.Phase == runs.Dropped || s.Phase == runs.Superseded || !s.Meant(c)
	})
	if len(all) == 0 {
		return []comment.Reply{evidence.Refused(c, "", runs.Refusal(reasons.NothingToLock{}))}, nil
	}
	var replies []comment.Reply
	for _, s := range all {
		reply, err := lo.lockOne(ctx, c, s.Run)
		if err != nil {
			return nil, err
		}
		replies = append(replies, reply)
	}
	return replies, nil
}

func (lo *Locker) lockOne(ctx context.Context, c comment.Command, r runs.Run) (comment.Reply, error) {
	q, err := lo.Evidence.Request(ctx, comment.Lock, r)
	if err != nil {
		return evidence.Unable(c, r.Project, err)
	}
	if d := runs.Gate(q); !d.Allowed() {
		return evidence.Refused(c, r.Project, d), nil
	}
	m := lo.Evidence.Message
	have, err := lo.Ledger.Reserve(ctx, r, runs.Reservation{Number: r.Pull.Number, By: m.Actor, Reason: c.Reason, At: m.At})
	if err != nil {
		return nil, err
	}
	if no := have.Against(r.Pull.Number); no != nil { // it came in between
		return evidence.Refused(c, r.Project, runs.Refusal(*no)), nil
	}
	if err := lo.Open.Tell(ctx, r, "locked", plain(m.ID)); err != nil {
		return nil, err
	}
	return comment.Locked{Project: r.Project, Because: c.Reason}, nil
}
