package comment

import (
	"fmt"
	"slices"
	"strings"

	"github.com/lockstep-iac/lockstep/functions/comment/markdown"
	"github.com/lockstep-iac/lockstep/functions/comment/reasons"
	"github.com/lockstep-iac/lockstep/functions/comment/rulings"
)

// Overridden is the reply that a person has overridden requirements for the plan of a project.
type Overridden struct {
	Project, By, Because string
	// Workspace is the workspace of the project. It is set only if another project of the pull request has the
	// same name.
	Workspace string `json:",omitempty"`
	// Left is the text about what still blocks the apply, as the function [Left] returns it.
	Left string `json:",omitempty"`
	// Target is the name of the project in Lockstep's records. Later is set if, at the moment, no requirement
	// that the person may override is missing.
	Target string `json:",omitempty"`
	Later  bool   `json:",omitempty"`
}

func (o Overridden) markdown() string {
	p := ProjectStatus{Name: o.Project, Workspace: o.Workspace}
	text := fmt.Sprintf("**Requirements overridden** for the plan of %s by %s: %s.", markdown.Code(p.Label()), markdown.Code(o.By), markdown.Code(o.Because))
	switch {
	case o.Later:
		text += fmt.Sprintf(" At the moment, all requirements that %s may override are met. If one of them is not met at the apply, this override counts. (Some depend on who requests the apply.)", markdown.Code(o.By))
	case o.Left == "":
		text += fmt.Sprintf(" To apply it, comment %s.", p.command(Apply))
	}
	return strings.TrimSpace(text + " The override is for this plan only. Editing the comment ends it.\n\n" + o.Left)
}

// Left returns, in Markdown, what still blocks the apply of a plan, and what to do. It returns "" if nothing
// blocks the apply, so that a command for the project applies the plan.
func Left(p ProjectStatus) string {
	parts := slices.Clone(p.Blockers)
	lacks := p.lacks()
	if lacks {
		parts = append(parts, "Still required:\n\n"+strings.TrimSpace(p.Required.Only(func(o rulings.Outcome) bool { return !o.Allows() }).Markdown(0)))
	}
	switch {
	case p.Late && len(parts) > 0:
		parts = append(parts, lateWords)
	case p.Late:
		parts = append(parts, "Lockstep applies it now, if the plan is still up to date then.")
	case p.Vain:
		parts = append(parts, "There is nothing to apply.")
	case p.Standing == NoChanges:
		parts = append(parts, "The plan has no changes: there is nothing to apply.")
	case p.Standing == PartPlanned:
		parts = append(parts, fmt.Sprintf("This plan cannot be applied. To plan everything that the pull request changes, comment %s. The new plan needs an override of its own.", p.planCommand()))
	case p.Standing == OnceMerged:
		parts = append(parts, p.onceMerged()+" The new plan needs an override of its own.")
	case p.Standing == Blocked:
		if p.Behind != nil {
			parts = append(parts, p.inOrder())
		}
		parts = append(parts, p.unblocked())
	case p.Standing == Renewed && p.ByMerge:
		parts = append(parts, fmt.Sprintf("The merge does not apply this plan, because nobody has confirmed it. Comment %s, and read that plan. It needs an override of its own.", p.planCommand()))
	case p.Standing == Renewed:
		if p.Behind != nil {
			parts = append(parts, p.inOrder())
		}
		parts = append(parts, fmt.Sprintf("The plan differs from the earlier one. To apply it, comment %s.", reasons.ApplyOnly(p.Name, p.Hash)))
	case p.Standing == OnMerge || p.Behind != nil || lacks:
		parts = append(parts, Check{ProjectStatus: p}.toApply())
	}
	return strings.Join(parts, "\n\n")
}
