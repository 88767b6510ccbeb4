package comment

import (
	"fmt"

	"github.com/lockstep-iac/lockstep/functions/comment/grammar"
	"github.com/lockstep-iac/lockstep/functions/comment/markdown"
)

// Unfinished is the reply that a pull request was applied, but its changes were not merged. It was closed,
// merged into a branch for which Lockstep does not plan, or merged with another head commit.
type Unfinished struct {
	Project string
	By      string // login of the user who applied
	Head    string // SHA that was applied
	// Into is the branch into which the pull request was merged; "" if it was not merged. Main is the branch
	// for which Lockstep plans.
	Into string `json:",omitempty"`
	Main string `json:",omitempty"`
	// Merged is the SHA of the merged commit, if it is not the commit that was applied, and the project was not
	// planned for it; otherwise "".
	Merged string `json:",omitempty"`
	// Moved is the new address of the state, if the base branch has changed it since the apply; otherwise "".
	Moved string `json:",omitempty"`
	// Unknown is set if the branch for which Lockstep plans does not have the project. Workspace is the
	// project's workspace, if a command must name it.
	Unknown   bool   `json:",omitempty"`
	Workspace string `json:",omitempty"`
}

func (a Unfinished) markdown() string {
	project, by, head := markdown.Code(a.Project), markdown.Code(a.By), markdown.Code(markdown.SHA(a.Head))
	into, main := markdown.Code(a.Into), markdown.Code(a.Main)
	const nobody = "has no such project, so no plan includes the objects that the apply created."
	destroy := grammar.Command{Verb: grammar.Plan, Project: a.Project, Workspace: a.Workspace, Options: grammar.Options{Destroy: true}}
	switch {
	case a.Into != "" && a.Unknown:
		return fmt.Sprintf("**Applied, merged elsewhere**: %s. %s applied %s, and the pull request was merged into %s. The branch %s %s To keep the objects, merge the changes into %s, too. To destroy them, open a pull request into %s with the project, comment %s there, then apply that plan.",
			project, by, head, into, main, nobody, main, main, markdown.Code(destroy.String()))
	case a.Into != "":
		return fmt.Sprintf("**Applied, merged elsewhere**: %s. %s applied %s, and the pull request was merged into %s. The branch %s lacks the changes, so the next apply of this project would undo them. To keep them, merge them into %s, too.",
			project, by, head, into, main, main)
	case a.Merged != "":
		return fmt.Sprintf("**Applied, another commit merged**: %s. %s applied %s, but %s was merged, without a plan of the project. If the base branch lacks the changes, the next apply of this project would undo them. To see what the next apply does, comment %s.",
			project, by, head, markdown.Code(markdown.SHA(a.Merged)), markdown.Code(grammar.Command{Verb: grammar.Plan, Project: a.Project}.String()))
	case a.Moved != "":
		return fmt.Sprintf("**Applied, state moved**: %s. %s applied %s to the state at its old address. The base branch now has the state at %s. The state there needs these changes, too. If it lacks them, copy the state from the old address: otherwise the next apply makes the changes a second time. To see what the next apply does, comment %s.",
			project, by, head, markdown.Code(a.Moved), markdown.Code(grammar.Command{Verb: grammar.Plan, Project: a.Project}.String()))
	case a.Unknown:
		return fmt.Sprintf("**Applied, not merged**: %s. %s applied %s, and the pull request was closed. The base branch %s To keep the objects, reopen the pull request and merge it. To destroy them, reopen it, comment %s, then apply that plan.",
			project, by, head, nobody, markdown.Code(destroy.String()))
	}
	return fmt.Sprintf("**Applied, not merged**: %s. %s applied %s, and the pull request was closed. The base branch lacks the changes, so the next apply of this project would undo them. To keep them, reopen the pull request and merge it.",
		project, by, head)
}
