package requirementrules

import (
	"slices"
	"strings"

	"github.com/lockstep-iac/lockstep/functions/comment/rulings"
	"github.com/lockstep-iac/lockstep/functions/project/requirements"
)

func unknown(problem string) rulings.Ruling {
	return rulings.Ruling{Outcome: rulings.Unknown, Problem: problem}
}

// outcomeOf returns the ruling of a rule with the given reasons against it. If there are no reasons, the rule
// is met.
func outcomeOf(against []rulings.Against) rulings.Ruling {
	if len(against) > 0 {
		return rulings.Ruling{Outcome: rulings.Fails, Against: against}
	}
	return rulings.Ruling{Outcome: rulings.Holds}
}

// mergeable requires that nothing prevents a merge except Lockstep's own checks. These checks pass once the
// plan is applied.
//
// An issue cannot be merged, and has met no rules of the base branch.
func mergeable(f Facts, _ requirements.Rules) rulings.Ruling {
	if f.Pull.Issue {
		return outcomeOf([]rulings.Against{{Why: rulings.IsIssue}})
	}
	if f.Pull.Merged {
		return rulings.Ruling{Outcome: rulings.NotApplicable}
	}
	for _, problem := range []string{missing(f.Merging), missing(f.Checks)} {
		if problem != "" {
			return unknown(problem)
		}
	}
	m := f.Merging.Value
	var against []rulings.Against
	no := func(is bool, why rulings.Why) {
		if is {
			against = append(against, rulings.Against{Why: why})
		}
	}
	no(m.Conflict, rulings.Conflicting)
	no(f.Pull.Draft, rulings.IsDraft)
	no(m.Behind && !f.Grouped, rulings.Behind)
	no(m.ReviewMissing, rulings.ReviewMissing)
	waits := false // for our own check
	for _, want := range m.Required {
		waiting, why := requiredCheck(f, want)
		waits = waits || waiting
		if why != "" {
			against = append(against, rulings.Against{Name: want.Name, Why: why})
		}
	}
	no(m.Unresolved > 0, rulings.Unresolved)
	if m.Blocked && !waits && len(against) == 0 {
		against = append(against, rulings.Against{Why: rulings.Blocked, Names: m.Rules})
	}
	return outcomeOf(against)
}

// requiredCheck searches for a check that the base branch's rules require. why is the reason if a check of
// another App is missing or has not passed. waits is set if the check is Lockstep's own and has not passed yet.
func requiredCheck(f Facts, want Required) (waits bool, why rulings.Why) {
	isOurs := func(c Check) bool { return c.Ours }
	named := slices.DeleteFunc(slices.Clone(f.Checks.Value), func(c Check) bool {
		return c.Name != want.Name || want.App != 0 && c.ID != want.App
	})
	others := slices.DeleteFunc(slices.Clone(named), isOurs)
	switch {
	case slices.ContainsFunc(named, isOurs), len(named) == 0 && want.Own:
		waits = worst(slices.DeleteFunc(slices.Clone(named), func(c Check) bool { return !c.Ours })) != "" || len(named) == 0
	case len(others) == 0:
		return false, rulings.Missing
	}
	return waits, worst(others)
}

// worst returns the reason against checks that have not passed. A failed check comes before a check in
// progress. The reason is "" if all checks have passed.
func worst(all []Check) (why rulings.Why) {
	for _, c := range all {
		switch c.State {
		case "passed":
		case "running":
			why = rulings.Running
		default:
			return rulings.CheckFailed
		}
	}
	return why
}

func upToDate(f Facts, _ requirements.Rules) rulings.Ruling {
	if f.Pull.Merged || f.Grouped {
		return rulings.Ruling{Outcome: rulings.NotApplicable}
	}
	if problem := missing(f.Behind); problem != "" {
		return unknown(problem)
	}
	if f.Behind.Value {
		return outcomeOf([]rulings.Against{{Why: rulings.Behind}})
	}
	return outcomeOf(nil)
}

func resolved(f Facts, _ requirements.Rules) rulings.Ruling {
	if problem := missing(f.Open); problem != "" {
		return unknown(problem)
	}
	if n := f.Open.Value; n > 0 {
		return rulings.Ruling{Outcome: rulings.Fails, Have: n}
	}
	return outcomeOf(nil)
}

func ready(f Facts, _ requirements.Rules) rulings.Ruling {
	switch {
	case f.Pull.Merged:
		return rulings.Ruling{Outcome: rulings.NotApplicable}
	case f.Pull.Draft:
		return outcomeOf([]rulings.Against{{Why: rulings.IsDraft}})
	}
	return outcomeOf(nil)
}

// checks requires that each pattern matches at least one check, and that all matching checks have passed.
// Lockstep's own checks do not count, because they wait for this decision.
func checks(f Facts, r requirements.Rules) rulings.Ruling {
	if problem := missing(f.Checks); problem != "" {
		return unknown(problem)
	}
	var against []rulings.Against
	var found, wanted []string
	for _, want := range r.Checks {
		wanted = append(wanted, want.String())
		there, elsewhere := false, ""
		for _, c := range f.Checks.Value {
			switch {
			case c.Ours:
			case want.Matches(c.Name, c.App):
				there = true
				if why := worst([]Check{c}); why != "" {
					against = append(against, rulings.Against{Name: c.Name, Why: why})
				} else {
					found = append(found, c.Name)
				}
			case (requirements.Check{Pattern: want.Pattern}).Matches(c.Name, c.App):
				elsewhere = c.App
				if c.App == "" {
					elsewhere = "commit status"
				}
			}
		}
		switch {
		case !there && elsewhere != "":
			against = append(against, rulings.Against{Name: want.String(), Why: rulings.OtherApp, Names: []string{elsewhere}})
		case !there:
			against = append(against, rulings.Against{Name: want.String(), Why: rulings.Missing})
		}
	}
	out := outcomeOf(against)
	out.Wanted, out.Found = wanted, found
	return out
}

// lastMove returns the last time that a label was added or removed.
func lastMove(f Facts, label string) (m LabelMove, found bool) {
	for _, x := range f.LabelMoves.Value {
		if x.Label == label {
			m, found = x, true
		}
	}
	return m, found
}

func hasLabel(f Facts, label string) bool {
	return slices.ContainsFunc(f.Pull.Labels, func(l string) bool { return strings.ToLower(l) == label })
}

// labels requires that all labels are set, and that people with write access added them. GitHub also lets other
// people add labels, but these people may not decide about an apply.
func labels(f Facts, r requirements.Rules) rulings.Ruling {
	return eachLabel(f, r.Labels, func(label string) (*rulings.Against, string) {
		if !hasLabel(f, label) {
			return &rulings.Against{Name: label, Why: rulings.Missing}, ""
		}
		return movedByWriter(f, label, true, rulings.PutBy)
	})
}

// notLabels requires that none of the labels is set, and that nobody without write access has removed one.
func notLabels(f Facts, r requirements.Rules) rulings.Ruling {
	return eachLabel(f, r.NotLabels, func(label string) (*rulings.Against, string) {
		if hasLabel(f, label) {
			return &rulings.Against{Name: label}, ""
		}
		if _, ever := lastMove(f, label); !ever {
			return nil, ""
		}
		return movedByWriter(f, label, false, rulings.TakenBy)
	})
}

// movedByWriter checks who added or removed a label.
func movedByWriter(f Facts, label string, added bool, why rulings.Why) (*rulings.Against, string) {
	m, found := lastMove(f, label)
	if !found || m.Added != added {
		return nil, "GitHub does not tell who changed the label " + label
	}
	may, problem := writes(f, m.By)
	if may || problem != "" {
		return nil, problem
	}
	return &rulings.Against{Name: label, Why: why, Names: []string{m.By}}, ""
}

func eachLabel(f Facts, wanted []string, look func(string) (*rulings.Against, string)) rulings.Ruling {
	if problem := missing(f.LabelMoves); problem != "" {
		return unknown(problem)
	}
	var against []rulings.Against
	problem := ""
	for _, label := range wanted {
		no, unknown := look(label)
		if no != nil {
			against = append(against, *no)
		}
		if unknown != "" {
			problem = unknown
		}
	}
	out := outcomeOf(against)
	if problem != "" && len(against) == 0 {
		out = unknown(problem)
	}
	out.Wanted = wanted
	return out
}
