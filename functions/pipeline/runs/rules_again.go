package runs

import (
	"github.com/lockstep-iac/lockstep/functions/comment"
)

// A plan that does not fit any more because of a reason that is settleable is made again, with the
// state locked, before anything changes. If it is the same plan, the approval is one of the new
// plan. Settleable are those parts that a plan shows the effect of: the state, the version of
// Lockstep, the packages of providers, files around the configuration, and those blocks of the
// configuration that the plan does not depend on (package containing).
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
func (d Decision) Settled() comment.Reasons { return d.settled }

func settleable(r comment.Reason) bool {
	switch r := r.(type) {
	case comment.OtherVersion, comment.ProvidersMoved, comment.OthersMoved, comment.ConfigMoved:
		return true
	case comment.StateMoved:
		return r.Change == comment.StateCreated || r.Change == comment.SerialMoved || r.Change == comment.SameSerial
	}
	return false
}

// othersMoved holds that files around the configuration are the same, where programs can read them.
func othersMoved(q *Request) comment.Reason {
	switch {
	case len(q.Around) == 0 || len(q.Differ) > 0: // inputsMoved has them all
		return nil
	case q.Provisioners:
		return comment.InputsMoved{Files: comment.SomeOf(q.Around), Whole: q.Whole, Merged: q.merged()}
	}
	return comment.OthersMoved{Files: comment.SomeOf(q.Around), Merged: q.merged()}
}

// blocksMoved holds that the configuration is the same.
func blocksMoved(q *Request) comment.Reason {
	if len(q.Blocks) == 0 || len(q.Differ) > 0 { // inputsMoved has them all
		return nil
	}
	return comment.ConfigMoved{Files: comment.SomeOf(q.Blocks), Merged: q.merged()}
}

func providersMoved(q *Request) comment.Reason {
	if q.Providers != "" {
		return comment.ProvidersMoved{Problem: q.Providers, Merged: q.merged()}
	}
	return nil
}

// againElsewhere holds that the plan made again is of the state that is locked.
func againElsewhere(q *Request) comment.Reason {
	if q.Again == nil || q.State != nil && q.Again.State == *q.State {
		return nil
	}
	r := comment.StateMoved{Change: comment.StateReplaced, Was: q.Again.State.Serial, Merged: q.merged()}
	if q.State != nil {
		r.Is = q.State.Serial
	}
	return r
}
