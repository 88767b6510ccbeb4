package requirementrules

import (
	"time"

	"github.com/lockstep-iac/lockstep/functions/comment/rulings"
	"github.com/lockstep-iac/lockstep/functions/project/requirements"
)

// NextChange returns the next time at which the outcome of a condition changes without a new fact, for example
// because a freeze ends. It tests the times after the time of the facts in steps, up to limit. It returns zero
// if there is no such time. A plan that was not shown yet counts as shown now.
func NextChange(q Question, step, limit time.Duration) time.Time {
	if q.Facts.Shown.IsZero() {
		q.Facts.Shown = q.Facts.Now
	}
	first := clockOutcomes(q, q.Facts.Now)
	if len(first) == 0 {
		return time.Time{}
	}
	for at := q.Facts.Now.Truncate(step).Add(step); at.Sub(q.Facts.Now) <= limit; at = at.Add(step) {
		for i, o := range clockOutcomes(q, at) {
			if o != first[i] {
				return at
			}
		}
	}
	return time.Time{}
}

// clockOutcomes returns the outcomes, at a time, of the conditions that depend on the clock.
func clockOutcomes(q Question, at time.Time) (out []rulings.Outcome) {
	q.Facts.Now = at
	for _, r := range q.Requirements {
		out = append(out, clockRules(q.Facts, r.Rules)...)
		for _, a := range r.Alternatives {
			out = append(out, clockRules(q.Facts, a.Rules)...)
		}
	}
	return out
}

func clockRules(f Facts, r requirements.Rules) (out []rulings.Outcome) {
	if r.Windows != nil {
		out = append(out, windows(f, r).Outcome)
	}
	if r.Freezes != nil {
		out = append(out, freeze(f, r).Outcome)
	}
	if wait := f.Environments[r.Environment].Value.Wait; r.Environment != "" && wait > 0 {
		out = append(out, waited(f, wait).Outcome)
	}
	return out
}
