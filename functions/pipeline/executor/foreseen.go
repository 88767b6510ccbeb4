package executor

import (
	"context"

	"github.com/lockstep-iac/lockstep/engine/plans"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/remotestates"
	"github.com/lockstep-iac/lockstep/functions/pipeline/jobs"
)

// foreseen returns the planned outputs of other projects, by the places of their states.
func foreseen(j jobs.Job) map[string][]byte {
	out := map[string][]byte{}
	for _, f := range j.Foreseen {
		out[f.Place] = f.Outputs
	}
	return out
}

// outputs returns those that the state will have, for others. That they cannot be encrypted is no reason to
// have no plan: others are planned with the stored ones then, and tell it.
func (o *checkout) outputs(ctx context.Context, p *plans.Plan) []byte {
	s, ds := o.ciphers.of(o)
	if !o.job.Foresee || !p.Applyable || ds.HasErrors() {
		return nil
	}
	out, err := remotestates.Encode(ctx, s.State(), o.State.Current, p)
	if err != nil {
		return nil
	}
	return out
}
