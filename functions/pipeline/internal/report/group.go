package report

import (
	"context"

	"github.com/lockstep-iac/lockstep/functions/comment"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/ledger"
	"github.com/lockstep-iac/lockstep/functions/pipeline/runs"
)

// queued are the plans of the commit of a merge group, for the projects whose plans are applied on merge.
func queued(ctx context.Context, rp *Reporter, head, sha string) (out []comment.QueuedPlan, err error) {
	all, err := rp.Ledger.Runs(ctx, rp.Evidence.Message.Pull)
	if err != nil {
		return nil, err
	}
	for _, s := range all {
		if s.Head != head || !runs.Lands(s.Run) {
			continue
		}
		p, err := ledger.Groups{Ledger: rp.Ledger}.Plan(ctx, s.Run, sha)
		if err != nil {
			return nil, err
		}
		if !p.Of(s.Run) {
			p.Found = comment.QueuedPlan{Project: s.Project, Group: sha}
		}
		out = append(out, p.Found)
	}
	return out, nil
}
