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
	command := func(verb string) string { return markdown.Code(verb + " -p " + all[0].Name) }
	return fmt.Sprintf("%s\nObjects in the state of a removed project stay, and nothing plans them after the merge. To destroy them, comment %s and then %s on another pull request, and merge this one afterwards. To keep them under another name, give the state's address to another project.",
		b.String(), command("lockstep plan -destroy"), command("lockstep apply"))
}
