package report

import (
	"context"

	"github.com/lockstep-iac/lockstep/functions/comment"
	"github.com/lockstep-iac/lockstep/functions/pipeline/gatefacts"
	"github.com/lockstep-iac/lockstep/functions/pipeline/runs"
)

// predecessors returns the projects that must be applied before a run. For a run of another pull request with
// the same head, it returns those that the check of that run shows.
func predecessors(ctx context.Context, rp *Reporter, line *gatefacts.OrderCache, r runs.Run) (*comment.Behind, error) {
	if r.Pull.Number == rp.Facts.Message.Pull.Number {
		return line.Predecessors(ctx, r)
	}
	rec, err := rp.Ledger.Records.Get(ctx, runs.CheckKey(r))
	if err != nil {
		return nil, err
	}
	c, err := runs.DecodeCheck(rec.Value)
	return c.Behind, err
}
