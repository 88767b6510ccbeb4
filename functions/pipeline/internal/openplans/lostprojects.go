package openplans

import (
	"context"
	"fmt"

	"github.com/lockstep-iac/lockstep/functions/pipeline"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/ledger"
	"github.com/lockstep-iac/lockstep/functions/pipeline/runs"
)

// CheckRemoved sends a message for each open plan of a project that a merge has removed from the base branch,
// to check it. If the removal is never applied, nothing else would cause that check. l is the latest Look at
// the merged pull request. It can be repeated.
func (f Finder) CheckRemoved(ctx context.Context, l ledger.Look) error {
	for _, target := range l.Removes {
		opens, err := f.Ledger.OpenPlans(ctx, l.Pull.Repo.ID, "", target)
		if err != nil {
			return err
		}
		for _, o := range opens {
			if o.Target != target {
				continue // the state belongs to another project by now
			}
			s, err := f.Ledger.Read(ctx, o.Pull.Runs()+"/"+target)
			if err != nil {
				return err
			}
			if o.Pull.Number == l.Pull.Number || !runs.Checkable(s.Run) {
				continue
			}
			m := check(s.Run)
			m.Lost = true
			if err := pipeline.Send(ctx, f.Queue, s.Pull, m, s.MessageName(), "lost", l.Pull.Number, s.Asked.Attempt); err != nil {
				return err
			}
		}
	}
	return nil
}

// CheckGone sends a message to check a run whose project the base branch had removed, because the base branch's
// new tip may have the project.
func (f Finder) CheckGone(ctx context.Context, r runs.Run, tip string) error {
	m := check(r)
	m.Tip = tip
	return pipeline.Send(ctx, f.Queue, r.Pull, m, r.MessageName(), "back", fmt.Sprintf("%.12s", tip), r.Asked.Attempt)
}
