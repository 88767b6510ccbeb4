package rulings

import "slices"

// MayCome reports whether a requirement is missing that the clock, or people, can still fulfil for the same plan, which the same
// user has asked for.
func (r Ruling) MayCome() bool { return !r.Outcome.Allows() && r.comes() }

func (r Ruling) comes() bool {
	switch {
	case r.Outcome.Allows():
		return true
	case wordings[r.Rule].settled:
		return false
	case r.Rule == OneOf:
		return slices.ContainsFunc(r.Of, func(x Ruling) bool { return x.Outcome != NotApplicable && x.comes() })
	}
	return !slices.ContainsFunc(r.Of, func(x Ruling) bool { return !x.comes() })
}
