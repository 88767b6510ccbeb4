package notes

import (
	"fmt"
	"slices"
	"strings"

	"github.com/lockstep-iac/lockstep/functions/comment/markdown"
)

// A RemovedProject is a project that exists on the base branch, and that a pull request removes.
type RemovedProject struct {
	Name  string
	State string // its address, "" if that is not known
	// ByMerge is set if the project can be applied only by merges. Lockstep then plans no destruction before
	// the merge.
	ByMerge bool
}

// Removed returns the note on a pull request that removes projects.
func Removed(all []RemovedProject) string {
	const most = 10
	var b strings.Builder
	for _, p := range all[:min(most, len(all))] {
		fmt.Fprintf(&b, "**This pull request removes the project** %s", markdown.Code(p.Name))
		if p.State != "" {
			fmt.Fprintf(&b, ", with the state at %s", markdown.Code(p.State))
		}
		b.WriteString(".\n")
	}
	if more := len(all) - most; more > 0 {
		fmt.Fprintf(&b, "It removes %d more projects.\n", more)
	}
	if i := slices.IndexFunc(all, func(p RemovedProject) bool { return p.ByMerge }); i >= 0 {
		fmt.Fprintf(&b, "\n%s applies only on merge, so its objects stay, and nobody plans them after this merge. To destroy them, first remove its resources in a pull request that keeps the project, and merge it.\n", markdown.Code(all[i].Name))
	}
	return strings.TrimSpace(b.String())
}

// Gone returns the note about projects that were planned for the pull request, and that the base branch has
// then removed.
func Gone(names []string) string {
	const most = 10
	return fmt.Sprintf("**The base branch has removed** %s since the plan, so there is nothing to plan or apply there.", markdown.Names(names, most))
}
