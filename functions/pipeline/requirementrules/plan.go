package requirementrules

import (
	"math/big"
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

// maxCost requires that each cost estimate of the plan is known and within the limit. Amounts are compared exactly.
func maxCost(f Facts, r requirements.Rules) rulings.Ruling {
	if problem := missing(f.Plan); problem != "" {
		return unknown(problem)
	}
	out := rulings.Ruling{Outcome: rulings.Holds, Want: *r.MaxCostIncrease}
	limit := new(big.Rat).SetInt64(int64(*r.MaxCostIncrease))
	for _, c := range f.Plan.Value.Costs {
		amount, ok := new(big.Rat).SetString(c.Increase)
		switch text := c.Increase + " " + c.Currency; {
		case !ok:
			out.Outcome, out.Against = rulings.Fails, append(out.Against, rulings.Against{Why: rulings.NoCosts})
		case amount.Cmp(limit) > 0:
			out.Outcome, out.Against = rulings.Fails, append(out.Against, rulings.Against{Name: text, Why: rulings.CostsMore})
		default:
			out.Found = append(out.Found, text)
		}
	}
	if len(f.Plan.Value.Costs) == 0 {
		out.Outcome, out.Against = rulings.Fails, []rulings.Against{{Why: rulings.NoCosts}}
	}
	return out
}

// noDestroy requires that the plan deletes or replaces no resource of the types that the rules name.
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

// noRisk requires that the plan has none of the risks that the rules name. The risks must have been found with the
// present settings.
func noRisk(f Facts, r requirements.Rules) rulings.Ruling {
	if problem := missing(f.Plan); problem != "" {
		return unknown(problem)
	}
	out := rulings.Ruling{Outcome: rulings.Holds, Wanted: r.NoRisk}
	if f.Plan.Value.Assessment != r.Assessment || r.Assessment == "" {
		out.Outcome, out.Against = rulings.Fails, []rulings.Against{{Why: rulings.NotAssessed}}
		return out
	}
	for _, x := range f.Plan.Value.Risks {
		if slices.Contains(r.NoRisk, x.Name) {
			out.Outcome = rulings.Fails
			out.Against = append(out.Against, rulings.Against{Name: x.Name, Why: rulings.AtRisk, Names: x.Objects})
			out.Have += x.More
		}
	}
	return out
}

// policy requires that the present policies have judged the plan and do not deny it.
func policy(f Facts, r requirements.Rules) rulings.Ruling {
	for _, problem := range []string{missing(f.Plan), missing(f.Policies)} {
		if problem != "" {
			return unknown(problem)
		}
	}
	return judged(r.Policy.Name, f.Policies.Value[r.Policy.Name], f.Plan.Value.Judgements, rulings.Unreliable, rulings.OtherPolicies)
}

// gate requires that the gate has examined the plan and allows it. The gate must be as the present settings
// define it.
func gate(f Facts, r requirements.Rules) rulings.Ruling {
	if problem := missing(f.Plan); problem != "" {
		return unknown(problem)
	}
	return judged(r.Gate.Name, r.Gate.ID(), f.Plan.Value.Verdicts, rulings.NoVerdict, rulings.OtherGate)
}

// step requires that the program of the step has succeeded when the plan was made. The step must be as the present
// settings define it.
func step(f Facts, r requirements.Rules) rulings.Ruling {
	for _, problem := range []string{missing(f.Plan), missing(f.Steps)} {
		if problem != "" {
			return unknown(problem)
		}
	}
	return judged(r.Step.Name, f.Steps.Value[r.Step.Name], f.Plan.Value.Steps, rulings.NoResult, rulings.OtherStep)
}

// judged requires a judgement with this name and ID that allows the plan. The parameter unreliable is the
// reason if the judgement has mistakes, and others is the reason if there is no such judgement.
func judged(name, id string, all []Judgement, unreliable, others rulings.Why) rulings.Ruling {
	out := rulings.Ruling{Outcome: rulings.Holds, Wanted: []string{name}}
	for _, v := range all {
		if v.Name != name || v.ID != id || id == "" {
			continue
		}
		out.Found, out.Want = v.Warned, v.MoreWarned
		for _, message := range slices.Concat(v.Denied, v.Mistakes) {
			out.Against = append(out.Against, rulings.Against{Name: message, Why: rulings.Denied})
		}
		if len(v.Mistakes) > 0 {
			out.Against = append(out.Against, rulings.Against{Why: unreliable})
		}
		if out.Have = v.MoreDenied; len(out.Against)+out.Have > 0 {
			out.Outcome = rulings.Fails
		}
		return out
	}
	out.Outcome, out.Against = rulings.Fails, []rulings.Against{{Why: others}}
	return out
}
