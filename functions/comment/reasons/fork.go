package reasons

import (
	"fmt"

	"github.com/lockstep-iac/lockstep/functions/comment/grammar"
	"github.com/lockstep-iac/lockstep/functions/comment/markdown"
)

// FromFork reports that the head of the pull request is in a fork, and that the base branch does not allow
// forks.
type FromFork struct {
	Verb grammar.Verb `json:",omitempty"` // of a command that is no plan
}

func (r FromFork) words() (text, remedy string) {
	text = "The pull request comes from a fork, and a plan would run its code with the credentials of this repository."
	if r.Verb != "" {
		text = fmt.Sprintf("The pull request comes from a fork, so Lockstep has planned nothing, and there is nothing to %s.", r.Verb)
	}
	return text, fmt.Sprintf("Read the commits, push them to a branch of this repository, and open a pull request from there. Or set %[2]s in the `allow` block of %[1]s on the base branch. Then somebody with write permission reads the commit and comments `lockstep plan COMMIT`, with its full ID. Lockstep plans that commit without credentials.", settings, markdown.Code("forks = true"))
}

// ForkUnnamed reports that the head commit is in a fork, and that nobody has yet named it in a plan command.
type ForkUnnamed struct{ Head string }

func (r ForkUnnamed) words() (text, remedy string) {
	return "The pull request comes from a fork. Somebody with write access has to read the commit first. Then Lockstep plans it, without credentials.", named(r.Head)
}

// OtherCommit reports that a command names a commit that is not the head.
type OtherCommit struct{ Named, Head string }

func (r OtherCommit) words() (text, remedy string) {
	if len(r.Named) < len(r.Head) {
		return fmt.Sprintf("%s is not a full commit ID, and somebody could create another commit with the same beginning.", markdown.Code(r.Named)), named(r.Head)
	}
	return fmt.Sprintf("%s is not the latest commit of the pull request, which is %s.", markdown.Code(markdown.SHA(r.Named)), markdown.Code(markdown.SHA(r.Head))), named(r.Head)
}

// named returns the advice to write the plan command that names the head commit.
func named(head string) string {
	return fmt.Sprintf("Read the commit, then comment %s.", markdown.Code(grammar.Command{Verb: grammar.Plan, Commit: head}.String()))
}

// OwnFork reports that the author of a pull request from a fork has named its head commit in a plan command. A
// different person has to do that.
type OwnFork struct{ Login string }

func (r OwnFork) words() (text, remedy string) {
	return fmt.Sprintf("The pull request comes from a fork, and its author %s may not comment `lockstep plan COMMIT`.", markdown.Code(r.Login)),
		"Ask somebody else with write access to read the commit and to comment that. Or push the commits to a branch of this repository."
}

// ForkOnlyPlanned reports that a command for a pull request from a fork is not a plan command. Other commands
// are refused.
type ForkOnlyPlanned struct{ Verb grammar.Verb }

func (r ForkOnlyPlanned) words() (text, remedy string) {
	return fmt.Sprintf("The pull request comes from a fork, where Lockstep only plans, without credentials. %s does not work there.", markdown.Code(grammar.Command{Verb: r.Verb}.String())),
		fmt.Sprintf("Merge it. Then comment %s to plan it with credentials, read the plan, and apply it.", markdown.Code("lockstep plan"))
}

// StateElsewhere reports that a pull request from a fork changes the address of a project's state.
type StateElsewhere struct{ Project string }

func (r StateElsewhere) words() (text, remedy string) {
	return fmt.Sprintf("The pull request comes from a fork, and changes the address of the state of %s.", markdown.Code(r.Project)),
		"Undo the changes to the backend, the workspace and their settings. To move a state, push the commits to a branch of this repository."
}

// NotOnBase reports that a project in a fork's commit does not exist on the base branch.
type NotOnBase struct{ Project string }

func (r NotOnBase) words() (text, remedy string) {
	return fmt.Sprintf("The pull request comes from a fork, and adds the project %s. From a fork, Lockstep plans only projects of the base branch.", markdown.Code(r.Project)),
		"Push the commits to a branch of this repository. Or merge the project first, in a pull request of its own."
}
