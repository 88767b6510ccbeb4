package comment

import (
	"fmt"
	"strings"

	"github.com/lockstep-iac/lockstep/functions/comment/markdown"
)

// A RemovedProject is one of the base branch that a pull request removes.
type RemovedProject struct {
	Name  string
	State string // its address, "" if that is not known
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
	return fmt.Sprintf("%s\nIts objects are planned to be destroyed, with the configuration that the base branch has. That is done by an apply of its own, %s, and by no other. Without it they stay, and nothing plans them after the merge. To keep them under another name, give the state's address to another project.",
		b.String(), markdown.Code("lockstep apply -p "+all[0].Name))
}
