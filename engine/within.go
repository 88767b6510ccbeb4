package engine

import (
	"context"
	"slices"

	"github.com/lockstep-iac/lockstep/engine/budget"
	"github.com/lockstep-iac/lockstep/engine/diags"
)

// StepsToEnd is how many steps of evaluation are taken after an interrupt by what has begun to
// change things and is to come to an end: postconditions, for example. They take less than
// a second together.
const StepsToEnd = 300_000

// within gives an operation its budget, if it has none, and ends its evaluations when ctx
// ends. The function returned is to be called at the operation's end, with what it has
// said in ds.
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
		*ds = settled(*ds, r.Budget.First())
	}
}

// settled returns what an operation says that has passed a limit: an error in any case,
// but each interrupted evaluation is none of its own.
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
