package admission

import (
	"slices"

	"github.com/lockstep-iac/lockstep/functions/comment"
	"github.com/lockstep-iac/lockstep/functions/comment/reasons"
	"github.com/lockstep-iac/lockstep/functions/pipeline/runs"
)

// A plan that does not fit any more because of a reason that is settleable is made again, with the
// state locked, before anything changes. If it is the same plan, the approval is one of the new
// plan. Settleable are those parts that a plan shows the effect of: the state, the version of
// Lockstep, the packages of providers, files around the configuration, and those blocks of the
// configuration that the plan does not depend on (package containing),
// and outputs of other projects.
//
// Other files of the configuration are not among them, and neither are remote modules: a plan does
// not have the provider configurations, the provisioners and the expressions of values that are not
// known yet, so that they can do something else by the same plan. For the same reason files around
// it are not, where provisioners may run, which read them. A state of another lineage, or one that
// is gone, is not the one that was approved, whatever its plan is.

// PlanAgain reports whether a plan made again, and found to be the same, would settle all reasons.
func (d Decision) PlanAgain() bool {
	for _, r := range d.Reasons {
		if !settleable(r) {
			return false
		}
	}
	return len(d.Reasons) > 0
}

// Settled returns the reasons that a plan made again has settled.
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

// othersMoved holds that files around the configuration are the same, where programs can read them.
func othersMoved(q *Request) reasons.Reason {
	switch {
	case len(q.Around) == 0 || len(q.Differ) > 0: // inputsMoved has them all
		return nil
	case q.Provisioners:
		return reasons.InputsMoved{Files: reasons.SomeOf(q.Around), Whole: q.Whole, Merged: q.merged(), Late: q.Run.Asked.Late}
	}
	return reasons.OthersMoved{Files: reasons.SomeOf(q.Around), Merged: q.merged()}
}

// blocksMoved holds that the configuration is the same.
func blocksMoved(q *Request) reasons.Reason {
	if len(q.Blocks) == 0 || len(q.Differ) > 0 { // inputsMoved has them all
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

// againElsewhere holds that the plan made again is of the state that is locked.
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

// outputsPlanned holds that a plan is not applied as it was made with the outputs of plans: by now there is a state that has
// others, or is to have them. A check is about those plans that have moved.
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

// outputsMoved holds that no project that the plan depends on was applied since. Those whose planned outputs the plan was made
// with are for outputsPlanned.
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
