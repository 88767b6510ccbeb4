package engine

import (
	"context"
	"slices"

	"github.com/lockstep-iac/lockstep/engine/budget"
	"github.com/lockstep-iac/lockstep/engine/diags"
)

// StepsToEnd is the number of evaluation steps that an operation with effects may still make after an
// interrupt, for example for postconditions, to end in an orderly way. These steps take less than a second in
// all.
const StepsToEnd = 300_000

// within gives an operation a budget, if it has none, and stops its evaluations when ctx ends. Call the
// returned function at the operation's end, when ds has its diagnostics.
func (r Run) within(ctx context.Context, ds *diags.Diagnostics, grace int64) (Run, func()) {
	if r.Budget == nil {
		r.Budget = budget.From(ctx)
	}
	if r.Budget == nil {
		r.Budget = budget.Generous()
	}
	end := r.Budget.Watch(ctx, grace)
	return r, func() {
		end()
		*ds = settled(*ds, r.Budget.First()).Sorted()
	}
}

// settled returns the diagnostics of an operation after its end. If the operation has exceeded a limit, first
// is the first excess; the result then has at least one error, and at most one error about interrupted
// evaluations. If first is nil, settled returns ds unchanged.
func settled(ds diags.Diagnostics, first *budget.Excess) diags.Diagnostics {
	if first == nil {
		return ds
	}
	if !ds.HasErrors() {
		return append(ds, diags.Errorf(nil, first.Summary(), "%s", first)...)
	}
	interrupted := (&budget.Excess{Kind: budget.Interrupted}).Summary()
	told := false
	return slices.DeleteFunc(slices.Clone(ds), func(d diags.Diagnostic) bool {
		again := told
		told = told || d.Summary == interrupted
		return d.Summary == interrupted && again
	})
}
