package notes

import (
	"fmt"
	"slices"
	"strings"

	"github.com/lockstep-iac/lockstep/functions/comment/markdown"
)

// SettingsChanged returns the note on a pull request that changes the file with the settings of the repository.
func SettingsChanged(file string) string {
	return fmt.Sprintf("This pull request changes %s. Lockstep already uses its list of projects. Its permissions and its rules for applies take effect after the merge.", markdown.Code(file))
}

// AppliedAndGone returns the note on a project that was applied from this pull request, and that no longer
// exists: neither in the pull request, nor on the base branch. head is the commit that was applied.
func AppliedAndGone(project, head string) string {
	return fmt.Sprintf("%s was applied from this pull request at %s, but no longer exists here or on the base branch. So nobody plans the objects that the apply created. To destroy them, push the files of the project again, without these objects, and apply that.",
		markdown.Code(project), markdown.Code(markdown.SHA(head)))
}

// ServedElsewhere returns the note on projects that other deployments serve. by are the names of their
// deployments; "" is the deployment without a name.
func ServedElsewhere(projects, by []string) string {
	var checks []string
	for _, name := range slices.Compact(slices.Sorted(slices.Values(by))) {
		check := "lockstep"
		if name != "" {
			check = "lockstep (" + name + ")"
		}
		checks = append(checks, check)
	}
	return fmt.Sprintf("Other deployments of Lockstep plan and apply %s, with comments of their own. Wait for their checks, too: %s.", markdown.List(projects), markdown.List(checks))
}

// SettingsBroken returns the note on errors in the base branch's file with the settings. problem has the
// errors, in Markdown.
func SettingsBroken(file, problem string) string {
	return fmt.Sprintf("%s on the base branch has errors, so Lockstep grants only what it can read there:\n\n%s", markdown.Code(file), strings.TrimSpace(problem))
}

// SettingsBrokenAlike returns the note that replaces [SettingsBroken] if the pull request has the same errors
// as the base branch. These errors are shown anyway, so the note does not repeat them.
func SettingsBrokenAlike() string {
	return "The settings on the base branch have the same errors, so Lockstep grants only what it can read there."
}

// A BrokenPolicy is a policy block with its mistakes. More is the number of mistakes that are left out. Dir is
// the directory of its policies.
type BrokenPolicy struct {
	Name, Dir string
	Mistakes  []string
	More      int
}

// PoliciesBroken returns the note on broken policies of an open pull request.
func PoliciesBroken(all []BrokenPolicy) string {
	text := "**Broken policies.** Fix them before you merge. After the merge, a broken policy blocks the applies of every project that it checks.\n"
	for _, p := range all {
		text += fmt.Sprintf("\n- %s, in %s: %s", markdown.Code(p.Name), markdown.Code(p.Dir), markdown.Few(p.Mistakes, p.More))
	}
	return text
}

// PoliciesUntried returns the note on policies of an open pull request that could not be tried, because
// trying them took too much time or memory. why is the reason, in Markdown.
func PoliciesUntried(why string) string {
	return "**Policies not tested**, so Lockstep does not know whether they are broken. After the merge, a broken policy blocks the applies of every project that it checks. Make the policies or their data smaller and push, or test them yourself before you merge.\n\n" + strings.TrimSpace(why)
}

// WentElsewhere returns the note on a pull request whose base branch was changed. Lockstep does not plan the
// new base branch, because the settings of the default branch do not name it. merged is set if the pull
// request was merged into the new base branch.
func WentElsewhere(base, main string, merged bool) string {
	does := "goes"
	if merged {
		does = "was merged"
	}
	return fmt.Sprintf("Lockstep no longer plans this pull request: it %s into %s, which the `allow` block of `lockstep.hcl` on %s does not list.", does, markdown.Code(base), markdown.Code(main))
}

// Unmerged returns the note on a project to whose state another pull request was applied. That pull request
// is not merged. The parameter number is its number.
func Unmerged(number int, project string) string {
	return fmt.Sprintf("#%d was applied to %s and is not merged yet, so this branch lacks its changes. Until #%[1]d is merged or closed, the plan of %[2]s can show those changes as removed, and cannot be applied.", number, markdown.Code(project))
}

// Exchanged returns the text that is shown instead of a plan's report, if the stored report is not the one that
// Lockstep made.
func Exchanged() string {
	return fmt.Sprintf("**The stored plan was replaced**, and is not the one that Lockstep made. Tell an operator of Lockstep: this may be an attack. For a new plan, comment %s.", markdown.Code("lockstep plan"))
}

// Outcome returns the outcome of an apply, followed by the applied plan, folded. Both are Markdown.
func Outcome(result, plan string) string {
	if plan == "" {
		return result
	}
	return fmt.Sprintf("%s\n\n<details><summary>The plan that was applied</summary>\n\n%s\n\n</details>\n", strings.TrimSpace(result), strings.TrimSpace(plan))
}

// Interrupted returns the report of an apply whose process died before it had recorded the outcome.
func Interrupted() string {
	return fmt.Sprintf("The apply was interrupted. The state has all changes up to a few seconds before that, and later changes can be missing in it. Comment %s, and read the new plan with care: it could create objects that already exist.", markdown.Code("lockstep plan"))
}
