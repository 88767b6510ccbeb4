package notes

import (
	"fmt"
	"slices"
	"strings"

	"github.com/lockstep-iac/lockstep/functions/comment/markdown"
)

// A RemovedProject is one of the base branch that a pull request removes.
type RemovedProject struct {
	Name  string
	State string // its address, "" if that is not known
	// ByMerge is set if merges alone apply it: then nothing is planned.
	ByMerge bool
}

// Removed is the note on a pull request that removes projects.
func Removed(all []RemovedProject) string {
	const most = 10
	var b strings.Builder
	for _, p := range all[:min(most, len(all))] {
		fmt.Fprintf(&b, "**This pull request removes the project** %s", markdown.Code(p.Name))
		if p.State != "" {
			fmt.Fprintf(&b, ", which has its state at %s", markdown.Code(p.State))
		}
		b.WriteString(".\n")
	}
	if more := len(all) - most; more > 0 {
		fmt.Fprintf(&b, "%d more projects are removed.\n", more)
	}
	if i := slices.IndexFunc(all, func(p RemovedProject) bool { return p.ByMerge }); i >= 0 {
		fmt.Fprintf(&b, "\nMerges alone apply %s, so its objects stay, and nothing plans them after this merge. To destroy them, first remove its resources, in a pull request that leaves the project, and merge that.", markdown.Code(all[i].Name))
	}
	b.WriteString("\nTo keep objects under another name, give the state's address to another project.")
	return b.String()
}

// Gone is the note on projects that the base branch has removed since a pull request that changes them was planned.
func Gone(names []string) string {
	const most = 10
	return fmt.Sprintf("**The base branch has removed** %s since this was planned: no project of that name can be planned or applied any more. What this pull request changes in other projects is planned with them.", markdown.Few(names[:min(most, len(names))], max(len(names)-most, 0)))
}
