package rulings

import "slices"

// LeftToGitHub reports whether the only missing condition is a rule of the base branch that GitHub does not
// name. GitHub refuses the merge because of this rule. So Lockstep's check must not fail, too: GitHub would
// show this check as the reason, and people would not see the rule.
func (r Ruling) LeftToGitHub() bool { return !r.Outcome.Allows() && r.butBlocked() }

func (r Ruling) butBlocked() bool {
	switch {
	case r.Outcome.Allows():
		return true
	case r.Rule == Mergeable:
		return r.Outcome == Fails && !slices.ContainsFunc(r.Against, func(a Against) bool { return a.Why != Blocked })
	case r.Rule == OneOf:
		// An alternative that is not applicable does not make the requirement met.
		return slices.ContainsFunc(r.Of, func(x Ruling) bool { return x.Outcome != NotApplicable && x.butBlocked() })
	}
	return len(r.Of) > 0 && !slices.ContainsFunc(r.Of, func(x Ruling) bool { return !x.butBlocked() })
}
