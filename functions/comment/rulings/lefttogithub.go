package rulings

import "slices"

// LeftToGitHub reports whether nothing is in the way but a rule of the base branch that GitHub does not name, and by which it
// refuses the merge itself. A check of ours that failed because of it would hide it: GitHub would refuse the merge for that.
func (r Ruling) LeftToGitHub() bool { return !r.Outcome.Allows() && r.butBlocked() }

func (r Ruling) butBlocked() bool {
	switch {
	case r.Outcome.Allows():
		return true
	case r.Rule == Mergeable:
		return r.Outcome == Fails && !slices.ContainsFunc(r.Against, func(a Against) bool { return a.Why != Blocked })
	case r.Rule == OneOf:
		// An alternative that does not apply is none that fulfils it.
		return slices.ContainsFunc(r.Of, func(x Ruling) bool { return x.Outcome != NotApplicable && x.butBlocked() })
	}
	return len(r.Of) > 0 && !slices.ContainsFunc(r.Of, func(x Ruling) bool { return !x.butBlocked() })
}
