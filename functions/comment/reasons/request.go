package reasons

import (
	"fmt"

	"github.com/lockstep-iac/lockstep/functions/comment/grammar"
	"github.com/lockstep-iac/lockstep/functions/comment/markdown"
)

// NoPermission: the user may do less than the command needs.
type NoPermission struct{ Login, Has, Needs string }

func (r NoPermission) words() (text, remedy string) {
	return fmt.Sprintf("%s has the permission %s on this repository, and this needs %s.", markdown.Code(r.Login), markdown.Code(r.Has), markdown.Code(r.Needs)),
		"Somebody who has it can say the same."
}

// FormerCommit: a button was pressed on the page of a check run whose commit is not the head any more.
type FormerCommit struct {
	Command      grammar.Command // of the button
	Commit, Head string
}

func (r FormerCommit) words() (text, remedy string) {
	text = fmt.Sprintf("That button is of an earlier commit, %s: the pull request is at %s now.", markdown.Code(markdown.SHA(r.Commit)), markdown.Code(markdown.SHA(r.Head)))
	if r.Command.Plan != "" {
		return text, "Look at the plan of that one, and press the button on its page."
	}
	return text, fmt.Sprintf("Press it there, or comment %s.", markdown.Code(r.Command.String()))
}

// OtherBase: the base branch is not the default branch, whose settings do not name it either.
type OtherBase struct{ Base, Default string }

func (r OtherBase) words() (text, remedy string) {
	main := markdown.Code(r.Default)
	return fmt.Sprintf("The pull request goes into %s: whoever may push there would grant themselves what %s has to grant.", markdown.Code(r.Base), main),
		fmt.Sprintf("Let it go into %s, or have the allow block of %s on %s name the branch: %s.", main, settings, main, markdown.Code(fmt.Sprintf("branches = [%q]", r.Base)))
}

// NotOpen: the pull request is merged, or closed. Lock is set if the command is a lock.
type NotOpen struct {
	Merged bool `json:",omitempty"`
	Lock   bool `json:",omitempty"`
}

func (r NotOpen) words() (text, remedy string) {
	switch {
	case r.Merged && r.Lock:
		return "The pull request is merged, and its locks end with the merge.", ""
	case r.Merged:
		return "The pull request is merged.", planAgain(true)
	}
	return "The pull request is closed.", "Reopen it: that plans it again."
}

// NoneSelected: a command selects none of the plans of the pull request.
type NoneSelected struct {
	Command  grammar.Command
	Projects []string `json:",omitempty"` // that are planned
	// Known are the projects of the base branch where none is planned, and the command is for none of them.
	Known []string `json:",omitempty"`
}

func (r NoneSelected) words() (text, remedy string) {
	switch {
	case len(r.Projects) == 0 && len(r.Known) > 0:
		return fmt.Sprintf("There is no plan for %s.", markdown.Code(r.Command.String())),
			fmt.Sprintf("Projects of the base branch: %s. %s plans one, whatever the pull request touches.", markdown.Few(r.Known[:min(len(r.Known), 20)], max(len(r.Known)-20, 0)), markdown.Code("lockstep plan -p NAME"))
	case len(r.Projects) == 0:
		c := grammar.Command{Verb: grammar.Plan, Project: r.Command.Project, Dir: r.Command.Dir, Workspace: r.Command.Workspace}
		return fmt.Sprintf("There is no plan for %s.", markdown.Code(r.Command.String())),
			fmt.Sprintf("%s makes one, whatever the pull request touches.", markdown.Code(c.String()))
	}
	return fmt.Sprintf("There is no plan for %s.", markdown.Code(r.Command.String())),
		fmt.Sprintf("Projects that are planned here: %s. %s plans another one.", markdown.List(r.Projects), markdown.Code("lockstep plan -p NAME"))
}

// NothingFailed: a command is for what has failed, and none of the projects that it names has.
type NothingFailed struct {
	Command  grammar.Command
	Projects []string `json:",omitempty"` // that it names; none: all
}

func (r NothingFailed) words() (text, remedy string) {
	c := r.Command
	if c.Failed = false; c.Verb == grammar.Retry {
		c.Verb = grammar.Plan
	}
	text = "Nothing here has failed."
	if !c.Everything() {
		text = fmt.Sprintf("Nothing of %s has failed.", markdown.Few(r.Projects[:min(len(r.Projects), 20)], max(len(r.Projects)-20, 0)))
	}
	return text, fmt.Sprintf("For what has not failed, comment %s.", markdown.Code(c.String()))
}

// TouchesNothing: the pull request touches no project, and a command is for plans of what it touches.
type TouchesNothing struct{}

func (TouchesNothing) words() (text, remedy string) {
	return "The pull request touches no project.", fmt.Sprintf("%s plans one all the same.", markdown.Code("lockstep plan -p NAME"))
}

// NotMerged: an apply on merge, without a merge.
type NotMerged struct{}

func (NotMerged) words() (text, remedy string) { return "The pull request is not merged.", "" }

// NotOnMerge: the settings have the project applied by a comment, and it was merged.
type NotOnMerge struct{ Project string }

func (r NotOnMerge) words() (text, remedy string) {
	return fmt.Sprintf("The base branch does not say that merging applies %s.", markdown.Code(r.Project)), ""
}

// NotAll: the merge is to apply a plan whose options leave out what the pull request changes.
type NotAll struct{ Options []string }

func (r NotAll) words() (text, remedy string) {
	return fmt.Sprintf("The plan was made with %s: it leaves out what the pull request changes, so the merge does not apply it.", SomeOf(r.Options).Text()), planAgain(true)
}

// AppliedLater: the settings have the project applied on merge, and a comment asks for it.
type AppliedLater struct {
	Project string
	// Renewed is set if the plan took the place of another one without anybody's asking, Options are those that leave out what
	// the pull request changes: the merge applies neither. Held is set if the other reasons are in the way of the merge's apply, too.
	Renewed bool     `json:",omitempty"`
	Options []string `json:",omitempty"`
	Held    bool     `json:",omitempty"`
	// Comes is set if each of those may come to an end after the merge, too: the apply waits for that.
	Comes bool `json:",omitempty"`
}

func (r AppliedLater) words() (text, remedy string) {
	text = fmt.Sprintf("The base branch says that %s is applied on merge", markdown.Code(r.Project))
	again := markdown.Code(grammar.Command{Verb: grammar.Plan, Project: r.Project}.String())
	switch {
	case len(r.Options) > 0:
		return fmt.Sprintf("%s, and the plan was made with %s: it leaves out what the pull request changes, so the merge does not apply it.", text, SomeOf(r.Options).Text()),
			fmt.Sprintf("Comment %s for a plan that the merge applies, and look at it.", again)
	case r.Renewed:
		return text + ", and the plan is another one than before: the merge does not apply it, since nobody has asked for it.",
			fmt.Sprintf("Look at the plan that is there now, and comment %s: the merge applies the plan that is made then.", again)
	case r.Held && r.Comes:
		return text + ".", "What is in the way may be gone before the merge or after it: the merge applies the plan once it is, if the plan still fits the base branch then."
	case r.Held:
		return text + ".", "What is in the way has to be gone before the merge: a merge before that does not apply the plan."
	}
	return text + ".", "Merge the pull request: that applies the plan."
}

// Conflicts: the head cannot be merged into the base branch. Planned is set if that was possible
// when the plan was made.
type Conflicts struct {
	Head    string
	Planned bool `json:",omitempty"`
}

func (r Conflicts) words() (text, remedy string) {
	if r.Planned {
		return fmt.Sprintf("The base branch has moved, and %s conflicts with it.", markdown.Code(markdown.SHA(r.Head))), "Merge the base branch into this one, or rebase it, and push: that plans again."
	}
	return fmt.Sprintf("%s conflicts with the base branch.", markdown.Code(markdown.SHA(r.Head))), "Merge the base branch into this one, or rebase it."
}

// NothingToUnlock: no project of the pull request was ever planned.
type NothingToUnlock struct{}

func (NothingToUnlock) words() (text, remedy string) {
	return "This pull request has no project whose state it could have locked.", ""
}

// NoProjectSelected: a command selects none of the repository's projects.
type NoProjectSelected struct {
	Command  grammar.Command
	Projects []string `json:",omitempty"` // of the repository
}

func (r NoProjectSelected) words() (text, remedy string) {
	text = fmt.Sprintf("There is no project for %s.", markdown.Code(r.Command.String()))
	if r.Command.Everything() {
		text = "The pull request touches no project."
	}
	if len(r.Projects) > 0 {
		return text, fmt.Sprintf("Projects here: %s.", markdown.List(r.Projects))
	}
	return text, fmt.Sprintf("The repository has no projects: no directory has a configuration with a backend block, and there is no %s that names one.", settings)
}

// ServedElsewhere: another deployment of Lockstep on the repository serves the project, by the base branch.
type ServedElsewhere struct {
	Project string
	By      string // its name; "" for the one without a name
}

func (r ServedElsewhere) words() (text, remedy string) {
	by, check := "the deployment without a name", "lockstep"
	if r.By != "" {
		by, check = "the deployment "+markdown.Code(r.By), fmt.Sprintf("lockstep (%s)", r.By)
	}
	return fmt.Sprintf("By the base branch, %s serves %s, and not this one.", by, markdown.Code(r.Project)),
		fmt.Sprintf("It is given the same command, and answers it; its check is %s.", markdown.Code(check))
}

// OwnApply: the plan destroys the objects of a removed project, and the command does not name it alone. Workspace is
// that of the project where another one of the pull request has its name, "" elsewhere. Part is set if the plan is another one
// than that of the whole destruction.
type OwnApply struct {
	Project   string
	Workspace string `json:",omitempty"`
	Part      bool   `json:",omitempty"`
}

func (r OwnApply) words() (text, remedy string) {
	text = "The pull request removes this project, and the plan destroys all of its objects: that needs an apply of its own."
	if r.Part {
		text = "The pull request removes this project: any plan of it needs an apply of its own."
	}
	return text, fmt.Sprintf("Comment %s.", markdown.Code(grammar.Command{Verb: "apply", Project: r.Project, Workspace: r.Workspace}.String()))
}

// SeveralProjects: a change of the state is for one of the projects, and a command selects several.
type SeveralProjects struct {
	Command  grammar.Command
	Projects []string // that it selects
	// Twins is set if some of them have one name, in several workspaces.
	Twins bool `json:",omitempty"`
}

func (r SeveralProjects) words() (text, remedy string) {
	name := markdown.Code("-p NAME")
	if r.Twins {
		name = markdown.Code("-p NAME -w WORKSPACE")
	}
	return fmt.Sprintf("%s changes the state of one project, and this is for %d: %s.", markdown.Code(r.Command.String()), len(r.Projects), markdown.Few(r.Projects[:min(len(r.Projects), 20)], max(len(r.Projects)-20, 0))),
		fmt.Sprintf("Name one of them with %s.", name)
}

// Unavailable: something that the command needs cannot be read until a person has mended it.
type Unavailable struct {
	Problem string
	Remedy  string `json:",omitempty"` // in Markdown
}

func (r Unavailable) words() (text, remedy string) { return markdown.Code(r.Problem) + ".", r.Remedy }

// ProcessEnded: the process that carried out the command was ended, and would be again.
type ProcessEnded struct {
	Problem string
	Remedy  string `json:",omitempty"` // in Markdown
}

func (r ProcessEnded) words() (text, remedy string) { return markdown.Code(r.Problem), r.Remedy }

// Unusable: the files do not allow the command, for instance because they lack the project.
type Unusable struct{ Problem string }

func (r Unusable) words() (text, remedy string) { return markdown.Code(r.Problem), "" }

// CommitGone: GitHub no longer has the commit that was planned.
type CommitGone struct{ Problem string }

func (r CommitGone) words() (text, remedy string) {
	return fmt.Sprintf("GitHub does not have what was planned any more: %s.", markdown.Code(r.Problem)), fmt.Sprintf("Comment %s for a new plan.", markdown.Code("lockstep plan"))
}

// StateUnreachable: the state that a lock is on cannot be reached.
type StateUnreachable struct {
	Problem string
	Remedy  string `json:",omitempty"` // in Markdown
}

func (r StateUnreachable) words() (text, remedy string) {
	return "Its state cannot be reached: " + markdown.Code(r.Problem), r.Remedy
}
