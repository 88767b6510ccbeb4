package comment

import (
	"fmt"

	"github.com/lockstep-iac/lockstep/functions/comment/grammar"
	"github.com/lockstep-iac/lockstep/functions/comment/markdown"
)

// Unfinished reports that a pull request was closed without being merged, or merged into another branch than the one that is
// planned, or with another head, after it was applied.
type Unfinished struct {
	Project string
	By      string // login of the user who applied
	Head    string // SHA that was applied
	// Into is the branch that it was merged into, "" for none, and Main the one that is planned.
	Into string `json:",omitempty"`
	Main string `json:",omitempty"`
	// Merged is the SHA that was merged in place of the applied one, without a plan of the project; "" for none.
	Merged string `json:",omitempty"`
	// Moved is where the branch that it was merged into has had the state since the apply; "" where it was.
	Moved string `json:",omitempty"`
	// Unknown is set if the branch that is planned has no such project. Workspace is that of the project, where it has to be named.
	Unknown   bool   `json:",omitempty"`
	Workspace string `json:",omitempty"`
}

func (a Unfinished) markdown() string {
	project, by, head := markdown.Code(a.Project), markdown.Code(a.By), markdown.Code(markdown.SHA(a.Head))
	into, main := markdown.Code(a.Into), markdown.Code(a.Main)
	const nobody = "has no such project: nobody plans the objects that the apply has made."
	destroy := grammar.Command{Verb: grammar.Plan, Project: a.Project, Workspace: a.Workspace, Options: grammar.Options{Destroy: true}}
	switch {
	case a.Into != "" && a.Unknown:
		return fmt.Sprintf("**Applied, but merged elsewhere**: %s. %s applied %s, and it is merged into %s, but %s %s To keep them, merge it into %s, too. To have them destroyed, open a pull request into %s with the project, comment %s there, and apply that.",
			project, by, head, into, main, nobody, main, main, markdown.Code(destroy.String()))
	case a.Into != "":
		return fmt.Sprintf("**Applied, but merged elsewhere**: %s. %s applied %s, and it is merged into %s: %s does not contain the changes, so the next plan of this project will undo them. To keep them, merge them into %s, too.",
			project, by, head, into, main, main)
	case a.Merged != "":
		return fmt.Sprintf("**Applied, but another head is merged**: %s. %s applied %s, and %s is merged, of which the project has no plan: the base branch may not contain the changes, and then the next plan of this project will undo them. Comment %s to see.",
			project, by, head, markdown.Code(markdown.SHA(a.Merged)), markdown.Code(grammar.Command{Verb: grammar.Plan, Project: a.Project}.String()))
	case a.Moved != "":
		return fmt.Sprintf("**Applied, but the state has moved**: %s. %s applied %s to the state where it was, and the base branch has had it at %s since. If it was copied before the apply, the next plan of this project makes the changes a second time: copy the state again first. Comment %s to see.",
			project, by, head, markdown.Code(a.Moved), markdown.Code(grammar.Command{Verb: grammar.Plan, Project: a.Project}.String()))
	case a.Unknown:
		return fmt.Sprintf("**Applied, but not merged**: %s. %s applied %s, but the base branch %s To keep them, reopen the pull request and merge it. To have them destroyed, reopen it, comment %s there, and apply that.",
			project, by, head, nobody, markdown.Code(destroy.String()))
	}
	return fmt.Sprintf("**Applied, but not merged**: %s. %s applied %s, but the base branch does not contain the changes: the next plan of this project will undo them. To keep them, reopen the pull request and merge it.",
		project, by, head)
}
