package rulings

import "slices"

// MayCome reports whether a requirement is missing that the clock, or people, can still fulfil for the same plan, which the same
// user has asked for.
func (r Ruling) MayCome() bool { return !r.Outcome.Allows() && r.comes() }

// settled are the rules whose outcome belongs to the plan, or to who asks for its apply.
var settled = []Rule{AskedBy, Permitted, MaxChanges, MaxDestroys, NoDestroy, Policy, Gate}

func (r Ruling) comes() bool {
	switch {
	case r.Outcome.Allows():
		return true
	case slices.Contains(settled, r.Rule):
		return false
	case r.Rule == OneOf:
		return slices.ContainsFunc(r.Of, func(x Ruling) bool { return x.Outcome != NotApplicable && x.comes() })
	}
	return !slices.ContainsFunc(r.Of, func(x Ruling) bool { return !x.comes() })
}
