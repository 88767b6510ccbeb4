package requirementrules

import (
	"time"

	"github.com/lockstep-iac/lockstep/functions/comment/rulings"
	"github.com/lockstep-iac/lockstep/functions/project/requirements"
)

// Turn returns a time after that of the facts, in whole steps, at which the clock alone makes a condition of a question hold,
// or hold no longer; zero if there is none until a limit. A plan that nobody has seen is about to be shown.
func Turn(q Question, step, limit time.Duration) time.Time {
	if q.Facts.Shown.IsZero() {
		q.Facts.Shown = q.Facts.Now
	}
	first := clocked(q, q.Facts.Now)
	if len(first) == 0 {
		return time.Time{}
	}
	for at := q.Facts.Now.Truncate(step).Add(step); at.Sub(q.Facts.Now) <= limit; at = at.Add(step) {
		for i, o := range clocked(q, at) {
			if o != first[i] {
				return at
			}
		}
	}
	return time.Time{}
}

// clocked are the outcomes of the conditions that depend on the clock, at a time.
func clocked(q Question, at time.Time) (out []rulings.Outcome) {
	q.Facts.Now = at
	for _, r := range q.Requirements {
		out = append(out, clockedRules(q.Facts, r.Rules)...)
		for _, a := range r.Alternatives {
			out = append(out, clockedRules(q.Facts, a.Rules)...)
		}
	}
	return out
}

func clockedRules(f Facts, r requirements.Rules) (out []rulings.Outcome) {
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
