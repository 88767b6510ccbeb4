package comment

import (
	"fmt"
	"strings"

	"github.com/lockstep-iac/lockstep/functions/comment/markdown"
	"github.com/lockstep-iac/lockstep/functions/comment/reasons"
)

// A Rechecked is the note about a plan that Lockstep has checked, and not replaced. It checked the plan because
// another pull request was applied to the same state.
type Rechecked struct {
	Project string
	// Since are the parts that have changed since the plan was made, although the plan still has the same
	// changes. Problem is the reason, in Markdown, if Lockstep could not check that.
	Since   reasons.List
	Problem string
	Empty   bool // the plan has no changes
}

// On adds the note to the status of a project, above the project's body. If the note has a problem, which can
// be long, the note becomes a part of the body.
func (r Rechecked) On(p *ProjectStatus) {
	now, same, still := "The apply plans again before it changes anything. To plan now", "the changes are the same", "The changes are the same. Approvals of this plan stay valid."
	if r.Empty {
		now, same, still = "For a new plan", "still no changes", "There are still no changes."
	}
	switch {
	case r.Problem != "":
		p.Note = fmt.Sprintf("**Lockstep could not check this plan against the current state.** %s, comment %s.", now, planNow(r.Project))
		p.Body = r.Problem + "\n\n" + p.Body
	case len(r.Since) == 0:
		p.Note = "*Checked against the current state: " + same + ".*"
	default:
		p.Note = "Planned again" + reasons.Because(r.Since, still)
	}
}

// planNow returns the command that makes a new plan of the project, in Markdown.
func planNow(project string) string {
	return markdown.Code(Command{Verb: Plan, Project: project}.String())
}

// A PlanRenewal is the reply that Lockstep itself has replaced a plan. The reason: another pull request was
// applied to the plan's state, or to a state on which the plan depends. ByMerge is set if the merge applies the
// plan.
type PlanRenewal struct {
	Project, Plan string // Plan is the hash
	Since         reasons.List
	ByMerge       bool `json:",omitempty"`
}

func (r PlanRenewal) markdown() string {
	text := fmt.Sprintf("**New plan** for %s%s", markdown.Code(r.Project), reasons.Because(r.Since, "The comment with the plans shows the difference. Approvals of the earlier plan do not count for the new one."))
	if r.ByMerge {
		return text + fmt.Sprintf(" The merge does not apply the new plan, because nobody has confirmed it. Comment %s, and read that plan. Then merge: the merge applies it.", markdown.Code(Command{Verb: Plan, Project: r.Project}.String()))
	}
	return text + fmt.Sprintf(" To apply the new plan, comment %s.", reasons.ApplyOnly(r.Project, r.Plan))
}

// A Replacement is the note about a new plan that has replaced an old one.
//   - Since are the reasons, if they are known.
//   - Difference is the difference of the two plans, in Markdown; "" if it is not known.
//   - Equal is set if both plans have the same changes.
type Replacement struct {
	Since      reasons.List
	Difference string
	Equal      bool
}

// Above returns the text of the new plan, with this note above it.
func (r Replacement) Above(plan string) string {
	result := "**The changes differ:** `-` is the earlier plan, `+` this one.\n\n" + r.Difference + "\n"
	switch {
	case r.Equal:
		result = "**It has the same changes.** But parts of the configuration have changed that a plan does not show, such as provisioners. So Lockstep does not apply this plan by itself.\n\n"
	case r.Difference == "":
		result = "Lockstep could not compare the two plans.\n\n"
	}
	cause := ". " + result
	if len(r.Since) > 0 {
		cause = reasons.Because(r.Since, result)
	}
	return "This plan replaces one that was out of date" + strings.TrimSpace(cause) + "\n\n" + plan
}
