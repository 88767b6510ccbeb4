package report

import (
	"context"
	"strconv"
	"strings"
	"time"

	"github.com/lockstep-iac/lockstep/functions/comment"
	"github.com/lockstep-iac/lockstep/functions/pipeline/gatefacts"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/ledger"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/ratelimits"
	"github.com/lockstep-iac/lockstep/functions/pipeline/runs"
)

// unannounced is how soon the next update comes, if readers need not know of it.
const unannounced = time.Minute

// SyncProgress writes the progress of the applies of the pull request, from the records: in the answers to the
// commands, and in the status comment and the check run of the run with the key asks, if the extent of the update
// includes these. It is called under the same conditions as [Reporter.Sync]. If an apply has ended meanwhile, its
// result is written.
//
// failed is an error that does not matter, because the next update or the result writes the same. After err,
// SyncProgress must be called once more: a check run may show an apply in progress that has ended.
func (rp *Reporter) SyncProgress(ctx context.Context, extent ratelimits.Extent, asks string) (failed, err error) {
	failed = rp.progress(ctx, extent)
	if extent != ratelimits.AndChecks {
		return failed, nil
	}
	r, err := rp.Ledger.Read(ctx, asks)
	if err == nil && failed == nil && r.Standing() == comment.Applying {
		if failed = rp.checkProgress(ctx, r.Run); failed == nil {
			return nil, nil
		}
		r, err = rp.Ledger.Read(ctx, asks)
	}
	if err != nil || r.Standing() == comment.Applying {
		return failed, err
	}
	// An earlier attempt may have died after it had written the check run, and before it found that the apply had
	// ended.
	return failed, rp.PutCheck(ctx, r.Run)
}

// progress writes the comments for [Reporter.SyncProgress]: first the answers, because the status comment of many
// projects takes longer.
func (rp *Reporter) progress(ctx context.Context, extent ratelimits.Extent) error {
	if err := rp.syncAnswers(ctx); err != nil || extent == ratelimits.AnswerOnly {
		return err
	}
	if err := rp.Facts.Look(ctx); err != nil {
		return err
	}
	return rp.status(ctx)
}

// checkProgress writes the check run of an apply in progress.
func (rp *Reporter) checkProgress(ctx context.Context, r runs.Run) error {
	p, err := rp.project(ctx, r, &gatefacts.OrderCache{Facts: rp.Facts})
	if err != nil {
		return err
	}
	return moveUp(ctx, rp, r, p)
}

// addOngoing adds the present progress of applies to those replies in an answer that say that an apply is
// pending. Only the last of them says when the next update comes.
func addOngoing(ctx context.Context, rp *Reporter, a ledger.Answer, replies []comment.Reply) error {
	now, last := time.Now(), -1
	var shown comment.Ongoing
	for i, p := range a.Replies {
		r, err := appliedBy(ctx, rp, p, replies[i])
		if err != nil {
			return err
		}
		o, err := rp.Ledger.Ongoing(ctx, r, now)
		if err != nil {
			return err
		}
		if !o.Began.IsZero() {
			replies[i], shown, last = comment.WithOngoing(replies[i], o), o, i
		}
	}
	if last < 0 {
		return nil
	}
	next, err := rp.Ledger.NextUpdate(ctx, a.Pull)
	if err == nil && next.Sub(now) > unannounced {
		shown.Next = next
		replies[last] = comment.WithOngoing(replies[last], shown)
	}
	return err
}

// appliedBy returns the run whose apply a pending reply is about; the zero value if there is none.
func appliedBy(ctx context.Context, rp *Reporter, p ledger.Reply, reply comment.Reply) (runs.Run, error) {
	pending, is := reply.(comment.Pending)
	id, named := strings.CutPrefix(p.ID, "apply ")
	i := strings.LastIndexByte(id, ' ')
	if !is || pending.Verb != comment.Apply || !named || i < 0 {
		return runs.Run{}, nil
	}
	s, err := rp.Ledger.Read(ctx, rp.Facts.Message.Pull.Runs()+"/"+id[:i])
	if err != nil || strconv.Itoa(s.Asked.Try) != id[i+1:] {
		return runs.Run{}, err
	}
	return s.Run, nil
}
