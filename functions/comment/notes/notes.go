package notes

import (
	"fmt"
	"slices"
	"strings"

	"github.com/lockstep-iac/lockstep/functions/comment/markdown"
)

// SettingsChanged is the note on a pull request that changes the file with the settings of the
// repository.
func SettingsChanged(file string) string {
	return fmt.Sprintf("This pull request changes %s. Lockstep already uses its list of projects. Its permissions and its rules for applies take effect after the merge.", markdown.Code(file))
}

// AppliedAndGone is the note on a project that a pull request was applied to, at a commit, and that is in none any more.
func AppliedAndGone(project, head string) string {
	return fmt.Sprintf("%s was applied from this pull request at %s, but no longer exists here or on the base branch. So nobody plans the objects that the apply created. To destroy them, push the files of the project again, without these objects, and apply that.",
		markdown.Code(project), markdown.Code(markdown.SHA(head)))
}

// ServedElsewhere is the note on projects that other deployments serve, each by one of a name, "" for that without
// one.
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

// SettingsBroken is the note on a file with settings of the base branch that has errors, which problem
// has in Markdown.
func SettingsBroken(file, problem string) string {
	return fmt.Sprintf("%s on the base branch has errors, so Lockstep grants only what it can read there:\n\n%s", markdown.Code(file), strings.TrimSpace(problem))
}

// SettingsBrokenAlike stands in the place of [SettingsBroken] where the pull request has the same errors, which are told anyway.
func SettingsBrokenAlike() string {
	return "The settings on the base branch have the same errors, so Lockstep grants only what it can read there."
}

// A BrokenPolicy is a policy block with mistakes, and More that are left off; Dir is the directory of its policies.
type BrokenPolicy struct {
	Name, Dir string
	Mistakes  []string
	More      int
}

// PoliciesBroken is the note on policies of an open pull request that decide nothing.
func PoliciesBroken(all []BrokenPolicy) string {
	text := "**Broken policies.** Fix them before you merge. After the merge, a broken policy blocks the applies of every project that it checks.\n"
	for _, p := range all {
		text += fmt.Sprintf("\n- %s, in %s: %s", markdown.Code(p.Name), markdown.Code(p.Dir), markdown.Few(p.Mistakes, p.More))
	}
	return text
}

// PoliciesUntried is the note on policies of an open pull request that take too much to be tried; why is a text in Markdown.
func PoliciesUntried(why string) string {
	return "**Policies not tested**, so Lockstep does not know whether they are broken. After the merge, a broken policy blocks the applies of every project that it checks. Make the policies or their data smaller and push, or test them yourself before you merge.\n\n" + strings.TrimSpace(why)
}

// WentElsewhere is the note on a pull request that went, or was merged, into a branch whose pull requests are not planned, as the
// settings of the default branch do not name it.
func WentElsewhere(base, main string, merged bool) string {
	does := "goes"
	if merged {
		does = "was merged"
	}
	return fmt.Sprintf("Lockstep no longer plans this pull request: it %s into %s, which the `allow` block of `lockstep.hcl` on %s does not list.", does, markdown.Code(base), markdown.Code(main))
}

// Unmerged is the note on a project whose state another pull request was applied to, which is not
// merged.
func Unmerged(number int, project string) string {
	return fmt.Sprintf("#%d was applied to %s and is not merged yet, so this branch lacks its changes. Until #%[1]d is merged or closed, the plan of %[2]s can show those changes as removed, and cannot be applied.", number, markdown.Code(project))
}

// Exchanged stands in the place of the report of a plan that is not the report that was made.
func Exchanged() string {
	return fmt.Sprintf("**The stored plan was replaced**, and is not the one that Lockstep made. Tell an operator of Lockstep: this may be an attack. For a new plan, comment %s.", markdown.Code("lockstep plan"))
}

// Outcome is the outcome of an apply with the plan that was applied, folded. Both are Markdown.
func Outcome(result, plan string) string {
	if plan == "" {
		return result
	}
	return fmt.Sprintf("%s\n\n<details><summary>The plan that was applied</summary>\n\n%s\n\n</details>\n", strings.TrimSpace(result), strings.TrimSpace(plan))
}

// Interrupted is the report of an apply whose process ended before it had written down the outcome.
func Interrupted() string {
	return fmt.Sprintf("The apply was interrupted. The state has all changes up to a few seconds before that, and later changes can be missing in it. Comment %s, and read the new plan with care: it could create objects that already exist.", markdown.Code("lockstep plan"))
}
