package comment

import (
	"github.com/lockstep-iac/lockstep/functions/comment/internal/precedence"
	"github.com/lockstep-iac/lockstep/functions/comment/reasons"
)

// A Behind tells of the applies before that of a plan, by the order of the settings.
type Behind = precedence.Behind

// afterMerge reports whether a plan that a comment applies comes after that of another project which the merge applies.
func (p ProjectStatus) afterMerge() bool {
	return p.Behind != nil && len(p.Behind.OnMerge) > 0 && !p.ByMerge && !p.Removed
}

// ownOrder reports whether such a plan waits for the merge, as the base branch lacked the order when it was made.
func (p ProjectStatus) ownOrder() bool {
	return p.Standing == Ready && p.afterMerge() && !p.Behind.Destroys
}

// onceMerged tells why nobody can apply a plan before the merge, and how what is merged is applied.
func (p ProjectStatus) onceMerged() string {
	if p.Owner == "" && p.Behind != nil {
		return reasons.OnceMerged("", p.Behind.On)
	}
	return reasons.OnceMerged(p.Owner, nil)
}

// inOrder tells how a plan is applied that comes after others.
func (p ProjectStatus) inOrder() string {
	return p.Behind.Text(precedence.Plan{
		Apply: p.command(Apply), Lacks: p.lacks(), OnMerge: p.Standing == OnMerge, AfterMerge: p.afterMerge(),
		Elsewhere: p.Standing == Renewed || p.Standing == Blocked, Removed: p.Removed,
	})
}
