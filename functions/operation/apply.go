package operation

import (
	"context"

	"github.com/lockstep-iac/lockstep/engine"
	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/engine/plans"
	"github.com/lockstep-iac/lockstep/engine/states"
)

// An Applied is the result of an apply.
type Applied struct {
	// State is the new state, also of an apply that failed on its way.
	State *states.State
	// Unsaved reports that the backend did not take State: what exists now is recorded nowhere
	// else, so that the caller must keep it.
	Unsaved bool
	// Tally has the actions that were completed, and those that were not begun.
	Tally *Tally
}

// Apply carries out a plan in the run r of [Operation.Run], and saves the state, at the end and as
// options have it on the way; their Save is set here. When ctx ends, no action is begun any more; those
// under way come to their end, and the state is saved.
func (o *Operation) Apply(ctx context.Context, r engine.Run, p *plans.Plan, options engine.ApplyOptions) (Applied, diags.Diagnostics) {
	out := Applied{Tally: newTally(p)}
	r.Events = out.Tally.before(r.Events)
	options.Save = func(ctx context.Context, s *states.State) error {
		err := o.State.Write(ctx, s)
		out.Unsaved = err != nil // a later save has everything that an earlier one lacks
		return err
	}
	var ds diags.Diagnostics
	out.State, ds = engine.Apply(ctx, r, p, options)
	return out, ds
}
