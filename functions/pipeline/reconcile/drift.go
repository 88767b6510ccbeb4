package reconcile

import (
	"context"
	"fmt"
	"time"

	"github.com/lockstep-iac/lockstep/functions/pipeline"
)

// drift sends a message to look for drift in a repository, if it is time for the next round.
func (j *Janitor) drift(ctx context.Context, p pipeline.Pull, now time.Time, f *Found) error {
	r, err := j.Pipeline.Ledger().DriftRound(ctx, p)
	if err != nil || !r.Due(now) {
		return err
	}
	m := pipeline.Message{Kind: pipeline.FindDrift, Pull: p, ID: fmt.Sprintf("%s-%d-%d", pipeline.FindDrift, p.Repo.ID, now.Unix()/60)}
	if err := j.Pipeline.Queue.Send(ctx, m); err != nil {
		return err
	}
	f.Drift++
	return nil
}
