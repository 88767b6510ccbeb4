package runs

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

// renewed reports whether nobody has asked for the plan.
func (r Run) renewed() bool { return r.Checked != nil && r.Checked.Renewed }

// planRenewed holds that a plan which was made by itself, in the place of another one, is applied by
// those only who name it.
func planRenewed(q *Request) reasons.Reason {
	if q.later() {
		return nil // occasion tells it
	}
	if !q.Run.renewed() || q.Entry == ByComment && (q.Decided || q.Named != "") {
		return nil // unseen holds that the name is the plan's
	}
	outputs := Has[reasons.OutputsPlanned](Decision{Reasons: q.Run.Checked.Since})
	return reasons.PlanRenewed{Project: q.Run.Project, Plan: q.Run.PlanHash, Merged: q.merged(), Outputs: outputs}
}

// trusted are the rules for a plan that is compared with another one, and moving those about its
// parts.
var (
	trusted = []func(*Request) reasons.Reason{savedExchanged, shownExchanged, keptExchanged}
	moving  = []func(*Request) reasons.Reason{inputsMoved, blocksMoved, othersMoved, modulesMoved, providersMoved, otherVersion, stateMoved, outputsPlanned, outputsMoved}
)

// Check decides what becomes of a plan that was made again without the state's lock; q.Again is the
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

// A Failure is what a plan was made with that failed. Once that is something else, the plan is made again.
type Failure struct {
	// On are the plans and applies of the projects of the pull request that it depends on, by target: see package foreseeing.
	On map[string]string `json:",omitempty"`
}

// Checkable reports whether the plan of a run can become another one without a push or a command: it waits for its apply, or has
// failed.
func Checkable(r Run) bool {
	return (r.Phase == Planned || r.Phase == PlanFailed && r.Failure != nil) && !Preview(r) && r.FinishedBy == 0
}

// Anew returns the run of a plan that failed, or whose project the base branch had removed and has again, as one that is planned again,
// for a message, as nobody else has asked for it.
func Anew(r Run, message string) Run {
	r = r.To(Queued)
	r.Attempt++
	r.PlanFor, r.Answer, r.ThenApply, r.Quiet = message, "", 0, false
	r.Checked, r.Full = nil, false
	r.PlanHash, r.Parts, r.Reported, r.Again, r.Settled = "", nil, "", "", nil
	return r
}

// Checked is the last check of a run's plan against the state after an apply.
type Checked struct {
	ID string // of the message
	// Since are the parts of the plan that had moved; it has the same changes, unless it is Renewed or
	// Problem tells why that is not known, in Markdown.
	Since   reasons.List `json:",omitempty"`
	Problem string       `json:",omitempty"`
	// Inputs is the hash of the input files that it was checked with; "" if it was not.
	Inputs string `json:",omitempty"`
	// PlannedOn are the plans whose outputs the plan was checked with, by target; nil if it was made with none.
	PlannedOn map[string]string `json:",omitempty"`
	// Renewed is set if the plan is another one, for the reasons of Since, which took the place of
	// the one that was checked.
	Renewed bool `json:",omitempty"`
	// Former is the plan that a renewed one took the place of: until our check run names the new one,
	// it is the only one that is known to be ours.
	Former *Former `json:",omitempty"`
}

// Former is what a run's record had of a plan.
type Former struct {
	Begun         int
	PlanHash      string
	Parts         *Parts `json:",omitempty"`
	State         StateID
	Inputs, Place string
	Renewed       bool `json:",omitempty"` // nobody had asked for that one either
}

// Former returns the plan of a run, for when it has another one.
func (r Run) Former() *Former {
	return &Former{r.Begun, r.PlanHash, r.Parts, r.State, r.Inputs, r.Place, r.renewed()}
}

// With returns a run with its former plan. Its parts are proved by the hash alone, if that is the one
// in our check run.
func (r Run) With(f *Former) Run {
	r.Begun, r.PlanHash, r.Parts, r.State, r.Inputs, r.Place = f.Begun, f.PlanHash, f.Parts, f.State, f.Inputs, f.Place
	r.Checked = &Checked{Renewed: f.Renewed}
	return r
}
