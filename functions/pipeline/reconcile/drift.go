package reconcile

import (
	"context"
	"fmt"
	"time"

	"github.com/lockstep-iac/lockstep/functions/pipeline"
)

// drift sends a message to look for drift in a repository, if it is time for the next round.
func (j *Janitor) drift(ctx context.Context, p pipeline.Pull, now time.Time) error {
	r, err := j.Pipeline.Ledger().DriftRound(ctx, p)
	if err != nil || !r.Due(now) {
		return err
	}
	id := fmt.Sprintf("%s-%d-%s", pipeline.FindDrift, p.Repo.ID, now.UTC().Truncate(time.Minute).Format(time.RFC3339))
	return j.Pipeline.Queue.Send(ctx, pipeline.Message{Kind: pipeline.FindDrift, Pull: p, ID: id})
}
