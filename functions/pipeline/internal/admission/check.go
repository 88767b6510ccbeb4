package admission

import (
	"slices"

	"github.com/lockstep-iac/lockstep/functions/comment/reasons"
)

// A Verdict is the result of checking a waiting plan after another pull request was applied to its state.
type Verdict string

const (
	// StillSame means that the waiting plan and its hash stay: the new plan has the same changes.
	StillSame Verdict = "the same"
	// Another means that the new plan replaces the waiting plan. The new plan has other changes, or something
	// has changed whose effect no plan shows.
	Another Verdict = "another one"
	// Unchecked means that the waiting plan stays as it is, because no new plan could be compared with it.
	Unchecked Verdict = "not checked"
)

// A Finding is a verdict with its reasons. The reasons are the parts of the plan that have changed. For
// Unchecked they are everything that prevented the check. There may be none.
type Finding struct {
	Verdict Verdict
	Reasons reasons.List
}

// OnlySettleable reports whether a plan that is made again shows the effect of all the changed parts, so that
// it settles all reasons of the finding.
func (f Finding) OnlySettleable() bool {
	return !slices.ContainsFunc(f.Reasons, func(r reasons.Reason) bool { return !settleable(r) })
}

// planRenewed refuses to apply a plan that Lockstep made by itself in place of the former plan, unless the
// comment names the new plan.
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

// trusted are the rules that prove that a plan is the one that was made and shown. Only a plan that passes
// these rules is compared with a new plan. moving are the rules about the parts of the plan that may have
// changed.
var (
	trusted = []func(*Request) reasons.Reason{savedExchanged, shownExchanged, keptExchanged}
	moving  = []func(*Request) reasons.Reason{inputsMoved, blocksMoved, othersMoved, modulesMoved, providersMoved, otherVersion, stateMoved, outputsPlanned, outputsMoved}
)

// Check decides what happens to a plan that was made again without the lock of the state. q.Again is the new
// plan. No apply trusts this decision: it makes the plan again with the state locked. So the worst effect of a
// wrong decision is a wrong plan on display.
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
