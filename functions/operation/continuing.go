package operation

import (
	"time"

	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/engine/journaling"
	"github.com/lockstep-iac/lockstep/engine/plans"
	"github.com/lockstep-iac/lockstep/engine/states"
	"github.com/lockstep-iac/lockstep/statebackend"
	"github.com/lockstep-iac/lockstep/statebackend/journal"
)

/*
# Going on with an apply

The apply of a saved plan can end before the plan does: its context ended, or its process was
killed. Its journal then has the name of the plan and all progress, and stays beside the state.
Who comes next decides what becomes of it, under the lock of the state:

	an apply of the same plan    goes on with it: nothing is planned, and nothing is done twice.
	anything else that writes    recovers the state from it, as from any journal, and drops it. The
	                             plan is stale from then on if that has changed the state.
	who only reads               leaves it.

A stop saves the state as it is by then, so that others find it complete. That keeps the progress:
the journal announces each state that the apply saves. A state that somebody else has written
ends it.

Creations in doubt keep waiting, with all that depends on them. To settle one is to recover, so
that the rest is for a new plan.
*/

// Begun describes an apply that another process has begun, and that Apply continues.
type Begun struct {
	Since time.Time
	Done  int // completed actions
}

// PlanID returns the name by which a journal identifies a saved plan. It is a hash of the plan's bytes. So a
// plan that is made or saved once more has a different name.
func PlanID(saved []byte) string { return journaling.SHA256(saved) }

// Actions returns the number of actions in a plan, to compare with [Begun.Done].
func Actions(p *plans.Plan) int { return len(newTally(p).planned) }

// findBegun sets o.Begun if the journal is that of an apply of the plan [Operation.Planned].
func (o *Operation) findBegun(log statebackend.Log, records []journal.Record, locked bool) (diags.Diagnostics, bool) {
	if o.Planned == "" || !locked {
		return nil, false
	}
	p, err := o.progress(o.State.Current, records)
	if err != nil {
		return unusable(log, locked, err), false
	}
	if p == nil {
		return nil, false
	}
	o.Begun = &Begun{Since: p.Began, Done: p.Done()}
	o.Recovery = Recovery{Unresolved: ordered(p.Open), Conflicts: p.Conflicts}
	return o.Recovery.diagnostics(o.State.Workspace.Place(), o.State.Current, locked), true
}

// progress returns how much the apply in the journal has done. It returns nil if that is not an apply of the
// plan [Operation.Planned].
func (o *Operation) progress(prior *states.State, records []journal.Record) (*journaling.Progress, error) {
	return journaling.Resume(journaling.Start{
		Plan: o.Planned, Stored: o.State.Current, Prior: prior, Sum: o.State.Sum(),
	}, linesOf(records))
}

// goOn returns the progress in a journal whose writer is now this process. It reads the journal once more,
// because the previous writer may have recorded results in the meantime.
func (o *Operation) goOn(log statebackend.Log, p *plans.Plan, records []journal.Record) (*journaling.Progress, diags.Diagnostics) {
	progress, err := o.progress(p.PriorState, records)
	if err != nil {
		return nil, unusable(log, true, err)
	}
	if progress == nil {
		return nil, diags.Errorf(nil, "The apply cannot be continued", "Another process has written the journal %s since Lockstep locked the state. Nothing was changed. Make a new plan.", log.Place())
	}
	o.Recovery = Recovery{Unresolved: progress.Open, Conflicts: progress.Conflicts}
	o.State.SetLineage(progress.Lineage)
	return progress, nil
}
