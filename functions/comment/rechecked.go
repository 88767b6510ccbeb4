package comment

import (
	"fmt"

	"github.com/lockstep-iac/lockstep/functions/comment/markdown"
	"github.com/lockstep-iac/lockstep/functions/comment/reasons"
)

// A Rechecked is the note on a plan that was checked after another pull request was applied to its
// state, and that stays as it is.
type Rechecked struct {
	Project string
	// Since are the parts of the plan that had moved; it has the same changes, or Problem tells why
	// that is not known, in Markdown.
	Since   reasons.List
	Problem string
	Empty   bool // the plan has no changes
}

// On puts the note on the status of a project: above its body. A problem, which can be long, is a part of that.
func (r Rechecked) On(p *ProjectStatus) {
	now, same, still := "Its apply plans again before it changes anything; to do that now", "the changes are the same", "with the same changes, since %s. An approval of this plan stays."
	if r.Empty {
		now, same, still = "For a new one", "there are no changes still", "still without changes, since %s."
	}
	switch {
	case r.Problem != "":
		p.Note = fmt.Sprintf("**This plan could not be checked against the state as it is now.** %s, comment %s.", now, planNow(r.Project))
		p.Body = r.Problem + "\n\n" + p.Body
	case len(r.Since) == 0:
		p.Note = "*Checked against the state as it is now: " + same + ".*"
	default:
		p.Note = fmt.Sprintf("*Planned again, "+still+"*", reasons.Since(r.Since))
	}
}

// planNow is the command in the note about a problem.
func planNow(project string) string {
	return markdown.Code(Command{Verb: Plan, Project: project}.String())
}

// A PlanRenewal tells that a plan has become another one, because another pull request was applied to
// its state, or to one that it depends on. Nobody has asked for that. ByMerge is set if the merge applies it.
type PlanRenewal struct {
	Project, Plan string // Plan is the hash
	Since         reasons.List
	ByMerge       bool `json:",omitempty"`
}

func (r PlanRenewal) markdown() string {
	text := fmt.Sprintf("**Another plan** for %s, since %s. The comment about the plans shows it, and how it differs from the former one, whose approvals are not for this.", markdown.Code(r.Project), reasons.Since(r.Since))
	if r.ByMerge {
		return text + fmt.Sprintf(" Merging does not apply it until somebody has looked at it, and commented %s.", markdown.Code(Command{Verb: Plan, Project: r.Project}.String()))
	}
	return text + fmt.Sprintf(" To apply it, comment %s.", reasons.ApplyOnly(r.Project, r.Plan))
}

// A Replacement is the note on a plan that has taken the place of another one. Since are the reasons
// for that; there may be none. Difference is Markdown; "" if it is not known, or if both plans are the
// same, so that Equal is set.
type Replacement struct {
	Since      reasons.List
	Difference string
	Equal      bool
}

// Above puts the note above the new plan.
func (r Replacement) Above(plan string) string {
	since := ""
	if len(r.Since) > 0 {
		since = ", since " + reasons.Since(r.Since)
	}
	head := "**This plan was made in the place of one that did not fit any more**" + since
	switch {
	case r.Equal:
		return head + ". Its changes are those of the former plan, but a plan does not show all that the rest can do: it needs an apply of its own.\n\n" + plan
	case r.Difference == "":
		return head + ", and could not be compared with it.\n\n" + plan
	case since != "":
		return head + ". **It is another one:** `-` is of the former plan, `+` of this one.\n\n" + r.Difference + "\n" + plan
	}
	return "**This plan was made in the place of one that did not fit any more, and is another one:** `-` is of the former plan, `+` of this one.\n\n" + r.Difference + "\n" + plan
}
