package admission

import (
	"slices"

	"github.com/lockstep-iac/lockstep/functions/comment/reasons"
)

// A Verdict is the result of checking a waiting plan after another pull request was applied to its state.
type Verdict string

const (
	// StillSame means that the waiting plan is kept, with its hash, because the new plan has the same changes.
	StillSame Verdict = "the same"
	// Another means that the new plan replaces the waiting plan: it has different changes, or something has
	// changed whose effect no plan shows.
	Another Verdict = "another one"
	// Unchecked means that the waiting plan is kept, because no new plan could be compared with it.
	Unchecked Verdict = "not checked"
)

// A Finding is a verdict with its reasons: the parts of the plan that have changed. For Unchecked, the reasons
// are everything that prevented the comparison. There may be none.
type Finding struct {
	Verdict Verdict
	Reasons reasons.List
}

// OnlySettleable reports whether a new plan would show the effects of all the changed parts. Then the new plan
// settles all reasons.
func (f Finding) OnlySettleable() bool {
	return !slices.ContainsFunc(f.Reasons, func(r reasons.Reason) bool { return !settleable(r) })
}

// planRenewed refuses an apply, if Lockstep itself has replaced the plan, and the comment does not name the new
// plan.
func planRenewed(q *Request) reasons.Reason {
	if q.asksForMerge() {
		return nil // the rule occasion reports that
	}
	if !q.Run.Renewed() || q.Entry == ByComment && (q.Decided || q.Named != "") {
		return nil // unseen checks that the name is the plan's
	}
	outputs := Has[reasons.OutputsPlanned](Decision{Reasons: q.Run.Plan.Checked.Since})
	return reasons.PlanRenewed{Project: q.Run.Project, Plan: q.Run.Plan.Hash, Merged: q.merged(), Outputs: outputs}
}

// Rules of the gate. trusted are the rules that prove that the plan is the one that was made and shown. Only
// such a plan is compared with a new plan. moving are the rules about parts of the plan that may have changed.
var (
	trusted = []func(*Request) reasons.Reason{savedExchanged, shownExchanged, keptExchanged}
	moving  = []func(*Request) reasons.Reason{inputsMoved, blocksMoved, othersMoved, modulesMoved, providersMoved, otherVersion, stateMoved, outputsPlanned, outputsMoved}
)

// Check decides what happens to a waiting plan, by comparing it with a new plan in q.Again. The new plan was
// made without the lock of the state. No apply relies on this decision: it makes the plan once more with the
// state locked. So a wrong decision can only show a wrong plan.
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
