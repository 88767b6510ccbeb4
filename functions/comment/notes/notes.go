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
	return fmt.Sprintf("This pull request changes %s. Which projects there are is taken from it; what it allows, and what it says about applying, counts when it is merged.", markdown.Code(file))
}

// AppliedAndGone is the note on a project that a pull request was applied to, at a commit, and that is in none any more.
func AppliedAndGone(project, head string) string {
	return fmt.Sprintf("%s was applied from this pull request, at %s, and is no project of it or of the base branch any more: nobody plans the objects that the apply has made. To have them changed or destroyed, push the project's files again, without the objects, and apply that.",
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
	return fmt.Sprintf("Other deployments of Lockstep plan and apply %s, with comments of their own. The pull request is not done before the checks of them are: %s.", markdown.List(projects), markdown.List(checks))
}

// SettingsBroken is the note on a file with settings of the base branch that has errors, which problem
// has in Markdown.
func SettingsBroken(file, problem string) string {
	return fmt.Sprintf("The base branch's %s has errors, and grants nothing but what can be read in it:\n\n%s", markdown.Code(file), strings.TrimSpace(problem))
}

// SettingsBrokenAlike stands in the place of [SettingsBroken] where the pull request has the same errors, which are told anyway.
func SettingsBrokenAlike() string {
	return "The base branch's settings have the same errors, and grant nothing but what can be read in them."
}

// A BrokenPolicy is a policy block with mistakes, and More that are left off; Dir is the directory of its policies.
type BrokenPolicy struct {
	Name, Dir string
	Mistakes  []string
	More      int
}

// PoliciesBroken is the note on policies of an open pull request that decide nothing.
func PoliciesBroken(all []BrokenPolicy) string {
	text := "**Policies that decide nothing**: once they are merged, each holds the applies of its projects until it is mended on the base branch. Mend them here before.\n"
	for _, p := range all {
		text += fmt.Sprintf("\n- %s, in %s: %s", markdown.Code(p.Name), markdown.Code(p.Dir), markdown.Few(p.Mistakes, p.More))
	}
	return text
}

// PoliciesUntried is the note on policies of an open pull request that take too much to be tried; why is a text in Markdown.
func PoliciesUntried(why string) string {
	return "**Policies that cannot be tried**: once they are merged, they may hold applies.\n\n" + strings.TrimSpace(why)
}

// WentElsewhere is the note on a pull request that went, or was merged, into a branch whose pull requests are not planned, as the
// settings of the default branch do not name it.
func WentElsewhere(base, main string, merged bool) string {
	did := "went"
	if merged {
		did = "was merged"
	}
	return fmt.Sprintf("Nothing of it is planned any more: it %s into %s, which `lockstep.hcl` on %s does not name.", did, markdown.Code(base), markdown.Code(main))
}

// Unmerged is the note on a project whose state another pull request was applied to, which is not
// merged.
func Unmerged(number int, project string) string {
	return fmt.Sprintf("#%d was applied to %s and is not merged yet: until it is, this plan may show its changes as to be undone, and cannot be applied.", number, markdown.Code(project))
}

// Exchanged stands in the place of the report of a plan that is not the report that was made.
func Exchanged() string {
	return fmt.Sprintf("**What is kept of this plan is not what was made.** Comment %s for a new plan.", markdown.Code("lockstep plan"))
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
	return fmt.Sprintf("The process that applied this plan ended before it was done. The state has what was done up to some seconds before that. What was done after, or was under way, exists and may not be in it: comment %s, and look at the new plan with care, above all at what it creates.", markdown.Code("lockstep plan"))
}
