package rulings

import "slices"

// LeftToGitHub reports whether the only thing missing is a rule of the base branch that GitHub does not name.
// GitHub itself refuses the merge because of this rule. Our check must not fail as well: then GitHub would name
// our check as the reason, and people would not see the rule.
func (r Ruling) LeftToGitHub() bool { return !r.Outcome.Allows() && r.butBlocked() }

func (r Ruling) butBlocked() bool {
	switch {
	case r.Outcome.Allows():
		return true
	case r.Rule == Mergeable:
		return r.Outcome == Fails && !slices.ContainsFunc(r.Against, func(a Against) bool { return a.Why != Blocked })
	case r.Rule == OneOf:
		// An alternative that is not applicable does not count as met.
		return slices.ContainsFunc(r.Of, func(x Ruling) bool { return x.Outcome != NotApplicable && x.butBlocked() })
	}
	return len(r.Of) > 0 && !slices.ContainsFunc(r.Of, func(x Ruling) bool { return !x.butBlocked() })
}
