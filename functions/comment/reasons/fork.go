package reasons

import (
	"fmt"

	"github.com/lockstep-iac/lockstep/functions/comment/grammar"
	"github.com/lockstep-iac/lockstep/functions/comment/markdown"
)

// FromFork: the head of the pull request is in a fork, and the base branch does not allow that.
type FromFork struct {
	Verb grammar.Verb `json:",omitempty"` // of a command that is no plan
}

func (r FromFork) words() (text, remedy string) {
	text = "The pull request comes from a fork: a plan runs what is in it, with the credentials of this repository."
	if r.Verb != "" {
		text = fmt.Sprintf("The pull request comes from a fork: nothing of it is planned, so there is nothing to %s.", r.Verb)
	}
	return text, fmt.Sprintf("Push the commits to a branch of this repository, after reading them, and open a pull request from there. Or have the allow block of %s on the base branch say %s: then a commit that somebody names is planned without credentials.", settings, markdown.Code("forks = true"))
}

// ForkUnnamed: the head is in a fork, and nobody has named it.
type ForkUnnamed struct{ Head string }

func (r ForkUnnamed) words() (text, remedy string) {
	return "The pull request comes from a fork: a commit of it is planned, without credentials, once somebody who may write has read and named it.", named(r.Head)
}

// OtherCommit: a command names a commit that is not the head.
type OtherCommit struct{ Named, Head string }

func (r OtherCommit) words() (text, remedy string) {
	if len(r.Named) < len(r.Head) {
		return fmt.Sprintf("%s is not the whole ID of a commit: others can be made that begin so.", markdown.Code(r.Named)), named(r.Head)
	}
	return fmt.Sprintf("%s is not the head of the pull request, which is %s.", markdown.Code(markdown.SHA(r.Named)), markdown.Code(markdown.SHA(r.Head))), named(r.Head)
}

// named is the remedy for a commit that is not named.
func named(head string) string {
	return fmt.Sprintf("Read what it changes, and comment %s.", markdown.Code(grammar.Command{Verb: grammar.Plan, Commit: head}.String()))
}

// OwnFork: the author of a pull request from a fork has named its head.
type OwnFork struct{ Login string }

func (r OwnFork) words() (text, remedy string) {
	return fmt.Sprintf("The pull request comes from a fork, and %s has opened it: somebody else has to read and name the commit.", markdown.Code(r.Login)),
		"Or push the commits to a branch of this repository."
}

// ForkOnlyPlanned: a command that does more than to plan is for a pull request from a fork.
type ForkOnlyPlanned struct{ Verb grammar.Verb }

func (r ForkOnlyPlanned) words() (text, remedy string) {
	return fmt.Sprintf("The pull request comes from a fork: it is planned without credentials, and %s is not for it.", markdown.Code(grammar.Command{Verb: r.Verb}.String())),
		fmt.Sprintf("Merge it, and comment %s: what was merged is planned with credentials, and applied from there.", markdown.Code("lockstep plan"))
}

// StateElsewhere: a pull request from a fork has the state of a project at another address than the base branch.
type StateElsewhere struct{ Project string }

func (r StateElsewhere) words() (text, remedy string) {
	return fmt.Sprintf("The pull request comes from a fork, and keeps the state of %s at another address than the base branch.", markdown.Code(r.Project)),
		"Leave the backend, the workspace and their settings as they are. To move a state, push the commits to a branch of this repository."
}

// NotOnBase: a project of a fork's commit is not on the base branch.
type NotOnBase struct{ Project string }

func (r NotOnBase) words() (text, remedy string) {
	return fmt.Sprintf("The base branch has no project %s, and the pull request comes from a fork: no state and no providers are granted to it.", markdown.Code(r.Project)),
		"Merge the project on its own first, or push the commits to a branch of this repository."
}
