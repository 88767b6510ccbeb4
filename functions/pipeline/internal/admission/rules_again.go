package admission

import (
	"slices"

	"github.com/lockstep-iac/lockstep/functions/comment"
	"github.com/lockstep-iac/lockstep/functions/comment/reasons"
	"github.com/lockstep-iac/lockstep/functions/pipeline/runs"
)

// A plan may be out of date for a reason whose effect a new plan would show. Such a reason is called
// settleable. The apply then makes the plan once more, with the state locked, before any change. If the new
// plan is the same, it counts as approved, too. Settleable are changes of:
//   - the state
//   - the version of Lockstep
//   - the packages of providers
//   - files outside of the configuration
//   - blocks of the configuration on which the plan does not depend (package containing)
//   - outputs of other projects
//
// Changes of the rest of the configuration and of remote modules are not settleable. A plan does not contain
// provider configurations, provisioners, or expressions for values that are not known yet. So an equal plan
// could do something else. For the same reason, files outside of the configuration are not settleable if
// provisioners may run, because these read them. A state that no longer exists, or that has another lineage, is
// not the approved one, even if the new plan is the same.

// PlanAgain reports whether a new plan would settle all reasons, if it is the same as the approved plan.
func (d Decision) PlanAgain() bool {
	for _, r := range d.Reasons {
		if !settleable(r) {
			return false
		}
	}
	return len(d.Reasons) > 0
}

// Settled returns the reasons for which the plan was made again, if the new plan has the same changes as the old one.
// These reasons no longer block the apply.
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

// othersMoved refuses if files outside of the configuration have changed, and programs can read them.
func othersMoved(q *Request) reasons.Reason {
	switch {
	case len(q.Around) == 0 || len(q.Differ) > 0: // inputsMoved lists them all
		return nil
	case q.Provisioners:
		return reasons.InputsMoved{Files: reasons.SomeOf(q.Around), Whole: q.Whole, Merged: q.merged(), Late: q.Run.Asked.Late, Generated: q.Generated}
	}
	return reasons.OthersMoved{Files: reasons.SomeOf(q.Around), Merged: q.merged()}
}

// blocksMoved refuses if files of the configuration have changed.
func blocksMoved(q *Request) reasons.Reason {
	if len(q.Blocks) == 0 || len(q.Differ) > 0 { // inputsMoved lists them all
		return nil
	}
	return reasons.ConfigMoved{Files: reasons.SomeOf(q.Blocks), Merged: q.merged(), Generated: q.Generated}
}

func providersMoved(q *Request) reasons.Reason {
	if q.Providers != "" {
		return reasons.ProvidersMoved{Problem: q.Providers, Merged: q.merged()}
	}
	return nil
}

// againElsewhere refuses if the new plan was not made from the locked state.
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

// outputsPlanned refuses to apply a plan that was made with planned outputs of other projects, because their
// states may now have other outputs. When a waiting plan is checked, the rule refuses only if one of those
// projects has a new plan.
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

// outputsMoved refuses if a project on which the plan depends was applied after the plan was made. Projects
// whose planned outputs were used are the task of [outputsPlanned].
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
