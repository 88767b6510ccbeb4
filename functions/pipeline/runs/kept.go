package runs

import "time"

// A Kept is the plan of a run, kept while Lockstep makes another plan with options that somebody has requested.
// If the other plan cannot be made, the run returns to the kept one.
type Kept struct {
	Spec    Spec
	Address Address
	Plan    Plan
	// By is who requested the plan, and Begun its number.
	By    string
	Begun int
}

// keeps returns the plan to which a run returns if its next plan, for spec, is not made; nil if there is none. A
// plan is kept if the next one has options, and is for the same head.
func (r Run) keeps(spec Spec) *Kept {
	next := r
	next.Spec = spec
	switch {
	case spec.Head != r.Spec.Head || spec.AfterMerge || !HasOptions(next):
		return nil
	case r.Phase == Queued || r.Phase == Planning:
		return r.Kept
	case r.Phase != Planned || !r.Plan.Applyable || Preview(r):
		return nil
	}
	return &Kept{r.Spec, r.Address, r.Plan, r.Asked.By, r.Artifacts.Begun}
}

// ReplacedBy returns the number (the Attempt) of the plan that has replaced all former plans of the run. It is 0 while
// that plan is not made, and if the run has returned to a former plan.
func (r Run) ReplacedBy() int {
	if r.Phase == Queued || r.Phase == Planning || r.Artifacts.Reserved > r.Artifacts.Begun {
		return 0
	}
	return r.Asked.Attempt
}

// Return returns a run with its kept plan, after the newer plan could not be made. It adds the failure to the
// history. The caller must first have answered the command: afterwards the run no longer knows the command.
func (r Run) Return(at time.Time) Run {
	failed := r
	failed.Phase = PlanFailed
	// The last entry is the kept plan. The run returns to this plan, so the plan does not belong in the history.
	if n := len(r.History); n > 0 {
		failed.History = r.History[:n-1]
	}
	history := failed.outcomes(at)
	kept := *r.Kept
	if r.Phase == Queued {
		r = r.To(Planning)
	}
	number := r.HighestNumber()
	r = r.To(Planned)
	r.Spec, r.Address, r.Plan, r.Apply, r.End = kept.Spec, kept.Address, kept.Plan, Apply{}, End{}
	r.Artifacts.Begun, r.Artifacts.Reserved = kept.Begun, number
	r.Asked.By, r.Asked.Answer, r.Asked.ThenApply, r.Asked.Retry = kept.By, "", 0, false
	r.History, r.Kept = history, nil
	return r
}
