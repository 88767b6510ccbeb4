package admission

import (
	"slices"

	"github.com/lockstep-iac/lockstep/functions/comment/reasons"
)

// A Verdict is the result of checking a plan that waits, after another pull request was applied to
// its state.
type Verdict string

const (
	// StillSame keeps the plan, under its hash: it would change the same.
	StillSame Verdict = "the same"
	// Another replaces the plan: it would change something else, or one of its parts has moved that
	// no plan shows the effect of.
	Another Verdict = "another one"
	// Unchecked leaves the plan as it is, since it could not be compared with anything.
	Unchecked Verdict = "not checked"
)

// A Finding is a verdict with its reasons: the parts of the plan that have moved, or, for Unchecked,
// all that kept it from being checked; these may be none.
type Finding struct {
	Verdict Verdict
	Reasons reasons.List
}

// Settles reports whether the parts of the plan that have moved are those only that a plan shows the effect of.
func (f Finding) Settles() bool {
	return !slices.ContainsFunc(f.Reasons, func(r reasons.Reason) bool { return !settleable(r) })
}

// planRenewed holds that a plan which was made by itself, in the place of another one, is applied by
// those only who name it.
func planRenewed(q *Request) reasons.Reason {
	if q.later() {
		return nil // occasion tells it
	}
	if !q.Run.Renewed() || q.Entry == ByComment && (q.Decided || q.Named != "") {
		return nil // unseen holds that the name is the plan's
	}
	outputs := Has[reasons.OutputsPlanned](Decision{Reasons: q.Run.Plan.Checked.Since})
	return reasons.PlanRenewed{Project: q.Run.Project, Plan: q.Run.Plan.Hash, Merged: q.merged(), Outputs: outputs}
}

// trusted are the rules for a plan that is compared with another one, and moving those about its
// parts.
var (
	trusted = []func(*Request) reasons.Reason{savedExchanged, shownExchanged, keptExchanged}
	moving  = []func(*Request) reasons.Reason{inputsMoved, blocksMoved, othersMoved, modulesMoved, providersMoved, otherVersion, stateMoved, outputsPlanned, outputsMoved}
)

// Check decides what becomes of a plan that was made again without the state's lock; q.Replanned is the
// new one. Nothing that it decides is believed by an apply: that makes the plan again with the state
// locked. So the worst of a wrong decision is a plan that is shown.
func Check(q Request) Finding {
	reasons := func(rules []func(*Request) reasons.Reason) (out reasons.List) {
		for _, no := range rules {
			if r := no(&q); r != nil {
				out = append(out, r)
			}
		}
		return out
	}
	if no := reasons(trusted); len(no) > 0 || q.Again == nil || q.State == nil || q.Again.State != *q.State {
		return Finding{Unchecked, no}
	}
	moved := reasons(moving)
	if q.Placing != nil && len(q.Placing.Reasons) == 0 {
		if r := placeMoved(&q); r != nil {
			moved = append(moved, r)
		}
	}
	same := q.Again.Equal
	for _, r := range moved {
		same = same && settleable(r)
	}
	if same {
		return Finding{StillSame, moved}
	}
	return Finding{Another, moved}
}
