package planrun

import (
	"cmp"
	"context"
	"errors"

	"github.com/lockstep-iac/lockstep/functions/pipeline"
	"github.com/lockstep-iac/lockstep/functions/pipeline/gatefacts"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/ledger"
	"github.com/lockstep-iac/lockstep/functions/pipeline/runs"
	"github.com/lockstep-iac/lockstep/github"
)

// assignChecks decides which of the projects share check runs: see [runs.Shared].
func (qu *PlanQueuer) assignChecks(ctx context.Context, found []selected) error {
	var targets []string
	for _, p := range found {
		targets = append(targets, runs.ID{Project: p.Name, Workspace: p.Workspace}.Target())
	}
	qu.slots, qu.forced = runs.Slots(qu.known, targets), nil
	if len(qu.known)+len(qu.slots) <= cmp.Or(qu.OwnChecks, pipeline.OwnChecks) {
		return nil
	}
	rules, err := qu.Facts.Hub.RequiredReports(ctx, qu.Facts.Pull.Base.Ref)
	if _, err := gatefacts.FinalRefusal(err); err != nil && !errors.Is(err, github.ErrNotFound) {
		return err
	}
	qu.forced = map[string]bool{}
	for _, r := range rules.Reports {
		qu.forced[r.Name] = true
	}
	return nil
}

// withCheck returns a run that is queued with the check run that it shares, if any. was is the run before that. A run
// never changes its check run at one head, because the hash of its plan would then be in two places. A check run that a rule
// of the base branch requires by its name is not shared: otherwise nothing would report it.
func (qu *PlanQueuer) withCheck(s, was ledger.Versioned) ledger.Versioned {
	if was.Version != "" && was.Spec.Head == s.Spec.Head {
		s.Spec.Shared = was.Spec.Shared
		return s
	}
	if s.Slot == 0 {
		s.Slot = qu.slots[s.Target()]
	}
	if !qu.forced[s.Check()] {
		s.Spec.Shared = runs.SharedBy(s.Slot, cmp.Or(qu.OwnChecks, pipeline.OwnChecks), cmp.Or(qu.SharedSize, pipeline.SharedSize))
	}
	return s
}
