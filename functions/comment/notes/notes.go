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

// AppliedAndGone returns the note about a project that this pull request has applied, and that no longer
// exists: the pull request and the base branch do not have it. head is the commit that was applied.
func AppliedAndGone(project, head string) string {
	return fmt.Sprintf("%s was applied from this pull request at %s, but no longer exists here or on the base branch. So nobody plans the objects that the apply created. To destroy them, push the files of the project again, without these objects, and apply that.",
		markdown.Code(project), markdown.Code(markdown.SHA(head)))
}

// ServedElsewhere returns the note about projects for which other deployments work. by are the names of the
// deployments; "" is the one without a name.
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

// SettingsBrokenAlike returns the note if the pull request and the base branch have the same errors in their
// settings. The errors of the pull request are shown anyway, so the note does not repeat them, unlike
// [SettingsBroken].
func SettingsBrokenAlike() string {
	return "The settings on the base branch have the same errors, so Lockstep grants only what it can read there."
}

// A BrokenPolicy is a policy block whose policies have errors. More is the number of errors that are not
// listed. Dir is the directory of the policies.
type BrokenPolicy struct {
	Name, Dir string
	Mistakes  []string
	More      int
}

// PoliciesBroken returns the note about policies with errors in an open pull request.
func PoliciesBroken(all []BrokenPolicy) string {
	text := "**Broken policies.** Fix them before you merge. After the merge, a broken policy blocks the applies of every project that it checks.\n"
	for _, p := range all {
		text += fmt.Sprintf("\n- %s, in %s: %s", markdown.Code(p.Name), markdown.Code(p.Dir), markdown.Few(p.Mistakes, p.More))
	}
	return text
}

// PoliciesUntried returns the note that the policies in an open pull request could not be checked, because that
// took too much time or memory. why is the reason, in Markdown.
func PoliciesUntried(why string) string {
	return "**Policies not tested**, so Lockstep does not know whether they are broken. After the merge, a broken policy blocks the applies of every project that it checks. Make the policies or their data smaller and push, or test them yourself before you merge.\n\n" + strings.TrimSpace(why)
}

// WentElsewhere returns the note about a pull request whose base branch was changed to base. Lockstep does not
// plan for base, because the settings of the default branch, main, do not name it. merged is set if the pull
// request was merged into base.
func WentElsewhere(base, main string, merged bool) string {
	does := "goes"
	if merged {
		does = "was merged"
	}
	return fmt.Sprintf("Lockstep no longer plans this pull request: it %s into %s, which the `allow` block of `lockstep.hcl` on %s does not list.", does, markdown.Code(base), markdown.Code(main))
}

// Unmerged returns the note that another pull request, which is not merged, was applied to the state of the
// project. number is the number of that pull request.
func Unmerged(number int, project string) string {
	return fmt.Sprintf("#%d was applied to %s and is not merged yet, so this branch lacks its changes. Until #%[1]d is merged or closed, the plan of %[2]s can show those changes as removed, and cannot be applied.", number, markdown.Code(project))
}

// Exchanged returns the text in place of a plan's report, if somebody has changed the stored report.
func Exchanged() string {
	return fmt.Sprintf("**The stored plan was replaced**, and is not the one that Lockstep made. Tell an operator of Lockstep: this may be an attack. For a new plan, comment %s.", markdown.Code("lockstep plan"))
}

// Outcome returns the result of an apply, with the applied plan below it in a <details> element. Both are
// Markdown.
func Outcome(result, plan string) string {
	if plan == "" {
		return result
	}
	return fmt.Sprintf("%s\n\n<details><summary>The plan that was applied</summary>\n\n%s\n\n</details>\n", strings.TrimSpace(result), strings.TrimSpace(plan))
}

// Interrupted returns the report about an apply whose process died before it recorded a result.
func Interrupted() string {
	return fmt.Sprintf("The apply was interrupted. The state has all changes up to a few seconds before that, and later changes can be missing in it. Comment %s, and read the new plan with care: it could create objects that already exist.", markdown.Code("lockstep plan"))
}
