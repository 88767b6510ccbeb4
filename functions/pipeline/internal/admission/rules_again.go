package admission

import (
	"slices"

	"github.com/lockstep-iac/lockstep/functions/comment"
	"github.com/lockstep-iac/lockstep/functions/comment/reasons"
	"github.com/lockstep-iac/lockstep/functions/pipeline/runs"
)

// A plan that is out of date for a settleable reason is made again, with the state locked, before any change.
// If the new plan is the same, the approval of the former plan counts for it. A reason is settleable if a plan
// shows its effect:
//   - the state
//   - the version of Lockstep
//   - the packages of providers
//   - files around the configuration
//   - blocks of the configuration that the plan does not depend on (package containing)
//   - outputs of other projects
//
// Other files of the configuration and remote modules are not settleable. A plan does not contain provider
// configurations, provisioners, or expressions for values that are not known yet. So the same plan could do
// something else. For the same reason files around the configuration are not settleable if provisioners may
// run, because those read them. A state that is gone, or that has another lineage, is not the approved one,
// even if the new plan is the same.

// PlanAgain reports whether making the plan again would settle all reasons, if the new plan is the same.
func (d Decision) PlanAgain() bool {
	for _, r := range d.Reasons {
		if !settleable(r) {
			return false
		}
	}
	return len(d.Reasons) > 0
}

// Settled returns the reasons that no longer count, because the plan was made again.
func (d Decision) Settled() reasons.List { return d.settled }

func settleable(r reasons.Reason) bool {
	switch r := r.(type) {
	case reasons.OtherVersion, reasons.ProvidersMoved, reasons.OthersMoved, reasons.ConfigMoved, reasons.OutputsPlanned, reasons.OutputsMoved:
		return true
	case reasons.StateMoved:
		return r.Change == reasons.StateCreated || r.Change == reasons.SerialMoved || r.Change == reasons.SameSerial
	}
	return false
}

// othersMoved refuses if files outside the configuration have changed and programs can read them.
func othersMoved(q *Request) reasons.Reason {
	switch {
	case len(q.Around) == 0 || len(q.Differ) > 0: // inputsMoved lists them all
		return nil
	case q.Provisioners:
		return reasons.InputsMoved{Files: reasons.SomeOf(q.Around), Whole: q.Whole, Merged: q.merged(), Late: q.Run.Asked.Late}
	}
	return reasons.OthersMoved{Files: reasons.SomeOf(q.Around), Merged: q.merged()}
}

// blocksMoved refuses if the configuration has changed.
func blocksMoved(q *Request) reasons.Reason {
	if len(q.Blocks) == 0 || len(q.Differ) > 0 { // inputsMoved lists them all
		return nil
	}
	return reasons.ConfigMoved{Files: reasons.SomeOf(q.Blocks), Merged: q.merged()}
}

func providersMoved(q *Request) reasons.Reason {
	if q.Providers != "" {
		return reasons.ProvidersMoved{Problem: q.Providers, Merged: q.merged()}
	}
	return nil
}

// againElsewhere refuses if the plan made again was not made from the locked state.
func againElsewhere(q *Request) reasons.Reason {
	if q.Again == nil || q.State != nil && q.Again.State == *q.State {
		return nil
	}
	r := reasons.StateMoved{Change: reasons.StateReplaced, Was: q.Again.State.Serial, Merged: q.merged()}
	if q.State != nil {
		r.Is = q.State.Serial
	}
	return r
}

// outputsPlanned refuses to apply a plan that was made with the planned outputs of other projects: their states
// may have other outputs by now. When a waiting plan is checked, the rule refuses only if one of those projects
// has another plan by now.
func outputsPlanned(q *Request) reasons.Reason {
	if q.State == nil || q.Run.Plan.Parts == nil {
		return nil
	}
	var on []string
	for target, plan := range q.Run.Plan.Parts.PlannedOn {
		if now, ok := q.PlannedOn[target]; q.Verb == comment.Apply && plan != "" || ok && now != plan {
			on = append(on, runs.ProjectOf(target))
		}
	}
	if len(on) == 0 {
		return nil
	}
	slices.Sort(on)
	return reasons.OutputsPlanned{Projects: slices.Compact(on), Merged: q.merged()}
}

// outputsMoved refuses if a project that the plan depends on was applied since. The projects whose planned
// outputs were used are checked by outputsPlanned.
func outputsMoved(q *Request) reasons.Reason {
	if q.State == nil {
		return nil
	}
	var on []string
	for _, target := range runs.ReadsOutdated(q.Run, q.Applied) {
		if q.Run.Plan.Parts == nil || q.Run.Plan.Parts.PlannedOn[target] == "" {
			on = append(on, runs.ProjectOf(target))
		}
	}
	if len(on) == 0 {
		return nil
	}
	return reasons.OutputsMoved{Projects: slices.Compact(on), Merged: q.merged()}
}
