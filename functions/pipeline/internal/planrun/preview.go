package planrun

import (
	"context"
	"fmt"

	"github.com/lockstep-iac/lockstep/functions/comment/markdown"
	"github.com/lockstep-iac/lockstep/functions/comment/notes"
	"github.com/lockstep-iac/lockstep/functions/pipeline/gatefacts"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/admission"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/ledger"
	"github.com/lockstep-iac/lockstep/functions/pipeline/jobs"
)

// preview makes the plan of a fork's commit in dir, and stores it. It first reads the state with the base
// branch's configuration. A process without rights then plans the fork's configuration. No hook is called: its
// program has rights, and would read input from an unknown person. The gate has ensured that dir has the commit
// that a person has named.
func (pl *Planner) preview(ctx context.Context, s ledger.Versioned, q admission.Request, dir string) error {
	base, done, err := pl.Facts.Checkout(ctx, s.Spec.Base)
	if err != nil {
		return pl.recordFinalError(ctx, s, err)
	}
	defer done()
	v, no, problem, err := gatefacts.PreviewOf(ctx, pl.Facts, q, dir, base)
	switch {
	case err != nil:
		return pl.recordFinalError(ctx, s, err)
	case problem != "":
		return pl.recordFailure(ctx, s, markdown.Code(problem))
	case !no.Allowed():
		return pl.recordDenial(ctx, s, no)
	}
	s.Address.Place, s.Plan.Deploys = v.Base.State.String(), ""
	snap, err := pl.Engine.Snapshot(ctx, v.Base)
	if err != nil {
		return fmt.Errorf("read the state of %s: %w", s.Project, err)
	}
	if snap.Problem != "" {
		return pl.recordFailure(ctx, s, snap.Problem)
	}
	result, err := pl.planWatched(ctx, s, jobs.Unprivileged(v.Head, snap))
	if err != nil {
		return fmt.Errorf("plan %s: %w", s.Project, err)
	}
	result.Plan, result.Outputs = nil, nil // whatever the process has returned
	result.Report = notes.Preview{Head: s.Spec.Head, By: s.Asked.By, Failed: !result.Previewed}.Above(result.Report)
	return pl.storePlan(ctx, s, result, ledger.Inputs{})
}
