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

// policy holds that the policies as they are now have judged the plan, and do not deny it.
func policy(f Facts, r requirements.Rules) rulings.Ruling {
	for _, problem := range []string{missing(f.Plan), missing(f.Policies)} {
		if problem != "" {
			return unknown(problem)
		}
	}
	out := rulings.Ruling{Outcome: rulings.Holds, Wanted: []string{r.Policy.Name}}
	for _, v := range f.Plan.Value.Judgements {
		if id := f.Policies.Value[r.Policy.Name]; v.Policy != r.Policy.Name || v.ID != id || id == "" {
			continue
		}
		out.Found, out.Want = v.Warned, v.MoreWarned
		for _, message := range v.Denied {
			out.Against = append(out.Against, rulings.Against{Name: message, Why: rulings.Denied})
		}
		for _, mistake := range v.Mistakes {
			out.Against = append(out.Against, rulings.Against{Name: mistake, Why: rulings.Denied})
		}
		if len(v.Mistakes) > 0 {
			out.Against = append(out.Against, rulings.Against{Why: rulings.Unreliable})
		}
		if out.Have = v.MoreDenied; len(out.Against)+out.Have > 0 {
			out.Outcome = rulings.Fails
		}
		return out
	}
	out.Outcome, out.Against = rulings.Fails, []rulings.Against{{Why: rulings.OtherPolicies}}
	return out
}
