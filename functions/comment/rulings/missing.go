package rulings

import (
	"slices"

	"github.com/lockstep-iac/lockstep/functions/comment/markdown"
)

// MayCome reports whether a requirement that is not met now can still be met, by time or by people, for the
// same plan and the same user.
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

// Denied reports whether a policy, a gate or a step denies the plan. Only a new plan or an override can change that.
// A policy with errors, a gate that does not answer, or a step without a result blocks the plan without denying it.
func (r Ruling) Denied() bool { return len(r.DeniedBy()) > 0 }

// DeniedBy returns the policies, gates and steps that deny the plan, in Markdown: "policy `ranges`". A requirement
// with several alternatives is denied only if all alternatives are denied.
func (r Ruling) DeniedBy() (out []string) {
	switch {
	case r.Outcome.Allows():
		return nil
	case r.Rule.judges():
		said := func(a Against) bool { return a.Why == Denied }
		unsure := func(a Against) bool { return a.Why == Unreliable || a.Why == NoVerdict || a.Why == NoResult }
		if r.Outcome == Fails && (r.Have > 0 || slices.ContainsFunc(r.Against, said)) && !slices.ContainsFunc(r.Against, unsure) {
			return []string{wordings[r.Rule].brief(r)}
		}
		return nil
	case r.Rule == OneOf && slices.ContainsFunc(r.Of, func(x Ruling) bool { return x.Outcome != NotApplicable && !x.Denied() }):
		return nil
	}
	for _, x := range r.Of {
		for _, by := range x.DeniedBy() {
			if !slices.Contains(out, by) {
				out = append(out, by)
			}
		}
	}
	return out
}

// NeedsApproval reports whether approvals are missing, and nothing else.
func (r Ruling) NeedsApproval() bool {
	switch {
	case r.Outcome.Allows():
		return false
	case r.Rule == Approvals || r.Rule == Codeowners:
		return r.Outcome == Fails
	case r.Rule == Mergeable:
		return r.Outcome == Fails && len(r.Against) > 0 && !slices.ContainsFunc(r.Against, func(a Against) bool { return a.Why != ReviewMissing })
	case r.Rule == OneOf:
		return slices.ContainsFunc(r.Of, func(x Ruling) bool { return x.Outcome != NotApplicable && x.NeedsApproval() })
	}
	return len(r.Of) > 0 && !slices.ContainsFunc(r.Of, func(x Ruling) bool { return !x.Outcome.Allows() && !x.NeedsApproval() })
}

// Missing returns the conditions that are not met, each in a few words of Markdown: "label `ready`". If settled
// is true, it returns the conditions that neither time nor people can fulfil for this plan. Otherwise it
// returns the conditions that time or people can fulfil.
func (r Ruling) Missing(settled bool) (out []string) {
	w := wordings[r.Rule]
	switch {
	case r.Outcome.Allows():
		return nil
	case r.Rule == OneOf || len(r.Of) == 0:
		switch {
		case settled == r.comes():
		case w.brief == nil: // of another version of Lockstep
			return []string{markdown.Code(string(r.Rule))}
		default:
			return []string{w.brief(r)}
		}
		return nil
	}
	for _, x := range r.Of {
		for _, name := range x.Missing(settled) {
			if !slices.Contains(out, name) {
				out = append(out, name)
			}
		}
	}
	return out
}
