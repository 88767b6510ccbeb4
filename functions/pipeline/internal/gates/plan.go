package gates

import (
	"slices"

	"github.com/lockstep-iac/lockstep/functions/comment/rulings"
	"github.com/lockstep-iac/lockstep/functions/project/requirements"
)

func windows(f Facts, r requirements.Rules) rulings.Ruling {
	out := rulings.Ruling{Outcome: rulings.Fails}
	for _, w := range r.Windows {
		if out.Wanted = append(out.Wanted, w.Text); w.Open(f.Now) {
			out.Outcome = rulings.Holds
		}
	}
	return out
}

func freeze(f Facts, r requirements.Rules) rulings.Ruling {
	out := rulings.Ruling{Outcome: rulings.Holds}
	for _, x := range r.Freezes {
		if x.Holds(f.Now) {
			out.Outcome, out.Found = rulings.Fails, append(out.Found, x.Text)
		}
	}
	return out
}

func maxChanges(f Facts, r requirements.Rules) rulings.Ruling {
	return limit(f, *r.MaxChanges, f.Plan.Value.Changes)
}

func maxDestroys(f Facts, r requirements.Rules) rulings.Ruling {
	return limit(f, *r.MaxDestroys, f.Plan.Value.Destroys)
}

func limit(f Facts, most, have int) rulings.Ruling {
	if problem := missing(f.Plan); problem != "" {
		return unknown(problem)
	}
	out := rulings.Ruling{Outcome: rulings.Holds, Want: most, Have: have}
	if have > most {
		out.Outcome = rulings.Fails
	}
	return out
}

// noDestroy holds that the plan deletes and replaces no resource of some types.
func noDestroy(f Facts, r requirements.Rules) rulings.Ruling {
	if problem := missing(f.Plan); problem != "" {
		return unknown(problem)
	}
	out := rulings.Ruling{Outcome: rulings.Holds, Wanted: r.NoDestroy}
	for _, t := range f.Plan.Value.Destroyed {
		if slices.ContainsFunc(r.NoDestroy, func(pattern string) bool { return requirements.MatchesType(pattern, t) }) {
			out.Outcome, out.Found = rulings.Fails, append(out.Found, t)
		}
	}
	return out
}
