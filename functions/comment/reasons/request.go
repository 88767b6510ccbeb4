package reasons

import (
	"fmt"

	"github.com/lockstep-iac/lockstep/functions/comment/grammar"
	"github.com/lockstep-iac/lockstep/functions/comment/markdown"
)

// NoPermission reports that the user has less permission than the command needs.
type NoPermission struct{ Login, Has, Needs string }

func (r NoPermission) words() (text, remedy string) {
	return fmt.Sprintf("%s has the permission %s on this repository, but the command needs %s.", markdown.Code(r.Login), markdown.Code(r.Has), markdown.Code(r.Needs)),
		"Ask somebody with that permission to write the command."
}

// FormerCommit reports that somebody pressed a button on the check run of a commit that is no longer the head.
type FormerCommit struct {
	Command      grammar.Command // of the button
	Commit, Head string
}

func (r FormerCommit) words() (text, remedy string) {
	text = fmt.Sprintf("The button belongs to the earlier commit %s. The current commit of the pull request is %s.", markdown.Code(markdown.SHA(r.Commit)), markdown.Code(markdown.SHA(r.Head)))
	if r.Command.Plan != "" {
		return text, "Read the plan of the current commit, then press the button on its check."
	}
	return text, fmt.Sprintf("Press the button on the check of the current commit, or comment %s.", markdown.Code(r.Command.String()))
}

// OtherBase reports that Lockstep does not plan for this base branch: it is not the default branch, and the
// default branch's settings do not name it.
type OtherBase struct{ Base, Default string }

func (r OtherBase) words() (text, remedy string) {
	main := markdown.Code(r.Default)
	return fmt.Sprintf("The pull request goes into %s, and Lockstep plans only pull requests into %s: otherwise everybody who can push to a branch could change the settings.", markdown.Code(r.Base), main),
		fmt.Sprintf("Change the base of the pull request to %s. Or add the branch to the `allow` block of %s on %s: %s.", main, settings, main, markdown.Code(fmt.Sprintf("branches = [%q]", r.Base)))
}

// NotOpen reports that the pull request is already merged or closed. Lock is set if the command is `lockstep
// lock`.
type NotOpen struct {
	Merged bool `json:",omitempty"`
	Lock   bool `json:",omitempty"`
}

func (r NotOpen) words() (text, remedy string) {
	switch {
	case r.Merged && r.Lock:
		return "The pull request is merged, and the merge has released its locks.", ""
	case r.Merged:
		return "The pull request is merged.", planAgain(true)
	}
	return "The pull request is closed.", "Reopen it: Lockstep then plans it again."
}

// NoneSelected reports that a command selects none of the plans of the pull request.
type NoneSelected struct {
	Command  grammar.Command
	Projects []string `json:",omitempty"` // that are planned
	// Known are the projects of the base branch. They are set if nothing is planned, and the command matches
	// none of them.
	Known []string `json:",omitempty"`
}

func (r NoneSelected) words() (text, remedy string) {
	switch {
	case len(r.Projects) == 0 && len(r.Known) > 0:
		return fmt.Sprintf("This pull request has no plan that %s matches.", markdown.Code(r.Command.String())),
			fmt.Sprintf("Projects of the base branch: %s. To plan one, comment %s.", markdown.Names(r.Known, 20), markdown.Code("lockstep plan -p NAME"))
	case len(r.Projects) == 0:
		c := grammar.Command{Verb: grammar.Plan, Project: r.Command.Project, Dir: r.Command.Dir, Workspace: r.Command.Workspace}
		return fmt.Sprintf("This pull request has no plan that %s matches.", markdown.Code(r.Command.String())),
			fmt.Sprintf("Comment %s for a plan. Then write the command again.", markdown.Code(c.String()))
	}
	return fmt.Sprintf("This pull request has no plan that %s matches.", markdown.Code(r.Command.String())),
		fmt.Sprintf("Projects with a plan: %s. To plan another, comment %s.", markdown.List(r.Projects), markdown.Code("lockstep plan -p NAME"))
}

// NothingFailed reports that a command is for projects that failed (--failed), but none of the selected
// projects has failed.
type NothingFailed struct {
	Command  grammar.Command
	Projects []string `json:",omitempty"` // that it names; none: all
}

func (r NothingFailed) words() (text, remedy string) {
	c := r.Command
	if c.Failed = false; c.Verb == grammar.Retry {
		c.Verb = grammar.Plan
	}
	text = "No project of this pull request has failed."
	if !c.Everything() {
		text = fmt.Sprintf("None of these projects has failed: %s.", markdown.Names(r.Projects, 20))
	}
	return text, fmt.Sprintf("To include projects that have not failed, comment %s.", markdown.Code(c.String()))
}

// TouchesNothing reports that the pull request changes no project, so that a plan command for all of its
// projects selects none.
type TouchesNothing struct{}

func (TouchesNothing) words() (text, remedy string) {
	return "The pull request changes no project.", fmt.Sprintf("To plan one anyway, comment %s.", markdown.Code("lockstep plan -p NAME"))
}

// NotMerged reports that an apply after a merge was requested, but the pull request is not merged.
type NotMerged struct{}

func (NotMerged) words() (text, remedy string) {
	return "The pull request is not merged.", "Merge it first. Then write the command again."
}

// NotOnMerge reports that the merge does not apply a project, because the settings say that a comment applies
// it.
type NotOnMerge struct{ Project string }

func (r NotOnMerge) words() (text, remedy string) {
	return fmt.Sprintf("The merge does not apply %s, by the settings of the base branch.", markdown.Code(r.Project)), "To apply it, comment `lockstep retry` for a new plan of what was merged. Read it, then apply it."
}

// NotAll reports that the merge does not apply a plan whose options leave out changes of the pull request.
type NotAll struct{ Options []string }

func (r NotAll) words() (text, remedy string) {
	return fmt.Sprintf("The plan was made with %s, which leaves out changes of the pull request, so the merge did not apply it.", SomeOf(r.Options).Text()), planAgain(true)
}

// AppliedLater reports that a comment requests the apply of a project that only the merge applies, according to
// the settings.
type AppliedLater struct {
	Project string
	// Renewed is set if Lockstep itself has replaced the plan. Options are the plan's options if they leave out
	// changes of the pull request. In both cases the merge does not apply the plan. Held is set if the merge's
	// apply is also blocked by the other reasons.
	Renewed bool     `json:",omitempty"`
	Options []string `json:",omitempty"`
	Held    bool     `json:",omitempty"`
	// Comes is set if all other reasons can still be resolved after the merge. The apply then waits for that.
	Comes bool `json:",omitempty"`
}

func (r AppliedLater) words() (text, remedy string) {
	text = fmt.Sprintf("The settings of the base branch say that merging applies %s", markdown.Code(r.Project))
	again := markdown.Code(grammar.Command{Verb: grammar.Plan, Project: r.Project}.String())
	switch {
	case len(r.Options) > 0:
		return fmt.Sprintf("%s. But this plan was made with %s, which leaves out changes of the pull request, so the merge will not apply this plan.", text, SomeOf(r.Options).Text()),
			fmt.Sprintf("Comment %s for a plan that the merge applies. Read it, then merge.", again)
	case r.Renewed:
		return text + ". But this plan has changed and nobody has confirmed it, so the merge will not apply this plan.",
			fmt.Sprintf("Comment %s, and read that plan. Then merge: the merge applies it.", again)
	case r.Held && r.Comes:
		return text + ".", "Resolve the other points of this list, before or after the merge. Lockstep then applies the plan, if the plan is still up to date then."
	case r.Held:
		return text + ".", "First resolve the other points of this list, then merge. If you merge before that, the merge does not apply the plan."
	}
	return text + ".", "To apply the plan, merge the pull request."
}

// Conflicts reports that the head conflicts with the base branch. Planned is set if it did not when the plan
// was made.
type Conflicts struct {
	Head    string
	Planned bool `json:",omitempty"`
}

func (r Conflicts) words() (text, remedy string) {
	if r.Planned {
		return fmt.Sprintf("%s conflicts with the base branch, which has changed.", markdown.Code(markdown.SHA(r.Head))), "Merge the base branch into this branch, or rebase it. Then push: Lockstep plans again."
	}
	return fmt.Sprintf("%s conflicts with the base branch.", markdown.Code(markdown.SHA(r.Head))), "Merge the base branch into this branch, or rebase it. Then push."
}

// NothingToUnlock reports that no project of the pull request was ever planned, so it has no lock.
type NothingToUnlock struct{}

func (NothingToUnlock) words() (text, remedy string) {
	return "This pull request has no project with a state, so it has no lock.", ""
}

// NoProjectSelected reports that a command selects none of the repository's projects.
type NoProjectSelected struct {
	Command  grammar.Command
	Projects []string `json:",omitempty"` // of the repository
}

func (r NoProjectSelected) words() (text, remedy string) {
	text = fmt.Sprintf("No project matches %s.", markdown.Code(r.Command.String()))
	if r.Command.Everything() {
		text = "The pull request changes no project."
	}
	if len(r.Projects) > 0 {
		return text, fmt.Sprintf("Projects: %s.", markdown.List(r.Projects))
	}
	return text, fmt.Sprintf("The repository has no projects. Add a `backend` block to a configuration, or a `project` block to %s.", settings)
}

// InShadow reports that the project is in shadow mode, so another tool applies it.
type InShadow struct{ Project string }

func (r InShadow) words() (text, remedy string) {
	return fmt.Sprintf("%s is in shadow mode: another tool applies it, and Lockstep only compares the plans.", markdown.Code(r.Project)),
		fmt.Sprintf("To let Lockstep apply it, write %s for the project into lockstep.hcl on the base branch.", markdown.Code(`mode = "active"`))
}

// ServedElsewhere reports that a different deployment of Lockstep works for the project, according to the base
// branch.
type ServedElsewhere struct {
	Project string
	By      string // its name; "" for the one without a name
}

func (r ServedElsewhere) words() (text, remedy string) {
	by, check := "without a name", "lockstep"
	if r.By != "" {
		by, check = "with the name "+markdown.Code(r.By), fmt.Sprintf("lockstep (%s)", r.By)
	}
	return fmt.Sprintf("By the settings on the base branch, another deployment of Lockstep serves %[2]s: the one %[1]s.", by, markdown.Code(r.Project)),
		fmt.Sprintf("You do not have to do anything: that deployment answers the command. Its check is %s.", markdown.Code(check))
}

// OwnApply reports that a command does not apply a project that the pull request removes: a command must name
// such a project alone. Workspace is set only if another project of the pull request has the same name. Part is
// set if the plan does not destroy all objects of the project.
type OwnApply struct {
	Project   string
	Workspace string `json:",omitempty"`
	Part      bool   `json:",omitempty"`
}

func (r OwnApply) words() (text, remedy string) {
	text = "The pull request removes this project, and the plan destroys all its objects. Such a plan needs a command of its own."
	if r.Part {
		text = "The pull request removes this project. Each plan of it needs a command of its own."
	}
	return text, fmt.Sprintf("To apply it, comment %s.", markdown.Code(grammar.Command{Verb: "apply", Project: r.Project, Workspace: r.Workspace}.String()))
}

// SeveralProjects reports that a command that must be for one project selects several: it changes the state or
// invokes an action.
type SeveralProjects struct {
	Command  grammar.Command
	Projects []string // that it selects
	// Twins is set if some of the selected projects have the same name in different workspaces.
	Twins bool `json:",omitempty"`
}

func (r SeveralProjects) words() (text, remedy string) {
	name := markdown.Code("-p NAME")
	if r.Twins {
		name = markdown.Code("-p NAME -w WORKSPACE")
	}
	return fmt.Sprintf("%s needs one project, but matches %d: %s.", markdown.Code(r.Command.String()), len(r.Projects), markdown.Names(r.Projects, 20)),
		fmt.Sprintf("Name one of them: add %s.", name)
}

// Unavailable reports that something that the command needs cannot be read, and that a person has to fix that.
type Unavailable struct {
	Problem string
	Remedy  string `json:",omitempty"` // in Markdown
}

func (r Unavailable) words() (text, remedy string) { return markdown.Code(r.Problem) + ".", r.Remedy }

// ProcessEnded reports that the process of the command died, and that it would die once more in another
// attempt.
type ProcessEnded struct {
	Problem string
	Remedy  string `json:",omitempty"` // in Markdown
}

func (r ProcessEnded) words() (text, remedy string) { return markdown.Code(r.Problem), r.Remedy }

// Unusable reports that the files of the pull request do not permit the command. For example, they do not
// contain the project.
type Unusable struct{ Problem string }

func (r Unusable) words() (text, remedy string) {
	return markdown.Code(r.Problem), "Correct the command or the settings. Then write the command again."
}

// CommitGone reports that the planned commit no longer exists on GitHub.
type CommitGone struct{ Problem string }

func (r CommitGone) words() (text, remedy string) {
	return fmt.Sprintf("GitHub no longer has the planned commit: %s.", markdown.Code(r.Problem)), fmt.Sprintf("Comment %s for a new plan.", markdown.Code("lockstep plan"))
}

// StateUnreachable reports that the state that the command needs cannot be read or locked.
type StateUnreachable struct {
	Problem string
	Remedy  string `json:",omitempty"` // in Markdown
}

func (r StateUnreachable) words() (text, remedy string) {
	return "Lockstep cannot reach the state: " + markdown.Code(r.Problem), r.Remedy
}
