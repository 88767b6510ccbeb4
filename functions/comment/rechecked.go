package comment

import (
	"fmt"
	"strings"

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
	text := fmt.Sprintf("**New plan** for %s%s", markdown.Code(r.Project), reasons.Because(r.Since, "The comment with the plans shows the difference. Approvals of the earlier plan do not count for the new one."))
	if r.ByMerge {
		return text + fmt.Sprintf(" The merge does not apply the new plan, because nobody has confirmed it. Comment %s, and read that plan. Then merge: the merge applies it.", markdown.Code(Command{Verb: Plan, Project: r.Project}.String()))
	}
	return text + fmt.Sprintf(" To apply the new plan, comment %s.", reasons.ApplyOnly(r.Project, r.Plan))
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
