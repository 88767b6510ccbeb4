package report

import (
	"context"
	"errors"

	"github.com/lockstep-iac/lockstep/functions/comment"
	"github.com/lockstep-iac/lockstep/functions/pipeline/evidence"
	"github.com/lockstep-iac/lockstep/functions/pipeline/runs"
	"github.com/lockstep-iac/lockstep/github"
)

// An inOrder is the order of the applies in the pull request, read once for many projects.
type inOrder struct {
	rp   *Reporter
	read func(runs.Run) *comment.Behind // nil before
}

// behind is what comes before the apply of a run. For one of another pull request, with the same head, it is what its check tells.
// Nothing follows from it, so a failure that stays is none: whoever asks for the apply is told.
func (l *inOrder) behind(ctx context.Context, r runs.Run) (*comment.Behind, error) {
	rp := l.rp
	if r.Pull.Number != rp.Evidence.Message.Pull.Number {
		rec, err := rp.Ledger.Records.Get(ctx, runs.CheckKey(r))
		if err != nil {
			return nil, err
		}
		c, err := runs.DecodeCheck(rec.Value)
		return c.Behind, err
	}
	some, err := evidence.Orders(ctx, rp.Evidence, r)
	if some && l.read == nil {
		var o *runs.Order
		if o, err = rp.Evidence.Order(ctx); err == nil {
			l.read = o.Behinds()
		}
	}
	absent, err := evidence.Absent(ctx, rp.Evidence, err) // the base branch is deleted
	if errors.As(err, new(*github.FinalError)) {
		return nil, nil
	}
	if err != nil || absent || !some {
		return nil, err
	}
	return l.read(r), nil
}
