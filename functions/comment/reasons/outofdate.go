package reasons

import (
	"fmt"
	"strings"

	"github.com/lockstep-iac/lockstep/functions/comment/grammar"
	"github.com/lockstep-iac/lockstep/functions/comment/markdown"
)

// FoundStale reports that Lockstep has already found that the plan is out of date. Merged is set if the merge
// requested the apply.
type FoundStale struct{ Merged bool }

func (r FoundStale) words() (text, remedy string) {
	return "The plan is out of date.", planAgain(r.Merged)
}

// HeadIsNewer reports that a comment requests a plan and its apply, but the head commit may be newer than the
// comment: it was pushed later or in the same second.
type HeadIsNewer struct{ Project string }

func (r HeadIsNewer) words() (text, remedy string) {
	return "You pushed after, or together with, this comment. Nobody has read the commits that Lockstep plans.",
		fmt.Sprintf("Read the plan, then comment %s.", markdown.Code(grammar.Command{Verb: grammar.Apply, Project: r.Project}.String()))
}

// HeadMoved reports that the plan was made for an earlier head commit of the pull request, or of the default branch.
type HeadMoved struct {
	Planned, Head string
	Merged        bool
	Project       string `json:",omitempty"` // which the present head may not touch
	// OnIssue is set for a command on an issue. Planned and Head are then commits of the default branch.
	OnIssue bool `json:",omitempty"`
}

func (r HeadMoved) words() (text, remedy string) {
	if r.OnIssue {
		return fmt.Sprintf("The plan is for %s, but the default branch is at %s now.", markdown.Code(markdown.SHA(r.Planned)), markdown.Code(markdown.SHA(r.Head))), planAgain(false)
	}
	text = fmt.Sprintf("The plan is for %s, but the pull request is at %s now.", markdown.Code(markdown.SHA(r.Planned)), markdown.Code(markdown.SHA(r.Head)))
	if r.Merged || r.Project == "" {
		return text, planAgain(r.Merged)
	}
	c := grammar.Command{Verb: grammar.Plan, Project: r.Project}
	return text, fmt.Sprintf("Lockstep plans the new commit: read that plan, then apply it. If the new commit does not change the project, comment %s.", markdown.Code(c.String()))
}

// Restored reports that a plan is to destroy the objects of a removed project, but the project exists once
// more: on the base branch, or in the open pull request.
type Restored struct {
	Project string
	Merged  bool // the pull request
}

func (r Restored) words() (text, remedy string) {
	where := "The pull request no longer removes the project"
	if r.Merged {
		where = "The base branch has the project again"
	}
	return where + ", so Lockstep does not destroy it.", planAgain(false)
}

// RemovedByBase reports that the projects were removed from the base branch after they were planned.
type RemovedByBase struct{ Projects []string }

func (r RemovedByBase) words() (text, remedy string) {
	return fmt.Sprintf("The base branch has removed %s since the plan, so there is nothing to plan or apply.", markdown.List(r.Projects)), ""
}

// RemovedHere reports that the pull request removes a project that only merges can apply. So, before the merge,
// Lockstep makes no plan that destroys the project's objects.
type RemovedHere struct{ Project string }

func (r RemovedHere) words() (text, remedy string) {
	return fmt.Sprintf("This pull request removes %s, which applies only on merge. So Lockstep does not plan to destroy its objects.", markdown.Code(r.Project)),
		"To destroy the objects, first remove the resources in a pull request that keeps the project, and merge it. Then remove the project."
}

// RenamedByBase reports that the project was renamed on the base branch after it was planned. Verb is the verb
// of the command to write, with the new name; "" if no command helps yet.
type RenamedByBase struct {
	Project, Name string
	Verb          grammar.Verb `json:",omitempty"`
}

func (r RenamedByBase) words() (text, remedy string) {
	text = fmt.Sprintf("The base branch has renamed %s to %s since the plan.", markdown.Code(r.Project), markdown.Code(r.Name))
	if rehoused(r.Project, r.Name) {
		text = fmt.Sprintf("The base branch has given %s another workspace since the plan.", markdown.Code(r.Name))
	}
	c := grammar.Command{Verb: r.Verb, Project: r.Name}
	switch r.Verb {
	case "":
		return text, "In commands, use the new name."
	case grammar.Plan:
		return text, newPlan(c)
	}
	return text, fmt.Sprintf("Use the new name: comment %s.", markdown.Code(c.String()))
}

// RenamedNote returns the note that a project of the pull request was renamed on the base branch after it was
// planned.
func RenamedNote(project, name string) string {
	if rehoused(project, name) {
		return fmt.Sprintf("**The base branch has given %s another workspace** since the plan.", markdown.Code(name))
	}
	return fmt.Sprintf("**The base branch has renamed %s to %s** since the plan. In commands, use the new name.", markdown.Code(project), markdown.Code(name))
}

// rehoused reports whether only the workspace of a project has changed, and not its name. project is the
// project's label when it was planned, and name its label now.
func rehoused(project, name string) bool {
	return project == name || strings.HasPrefix(project, name+" (")
}

// InputsMoved reports that files on which the plan depends have changed since the plan was made. Whole is set
// if the plan depends on all files of the repository. Late is set if the apply has waited since the merge.
type InputsMoved struct {
	Files  Some
	Whole  bool `json:",omitempty"`
	Merged bool
	Late   bool `json:",omitempty"`
	// Generated is set if steps write files into the checkout, so that these may be the files that differ.
	Generated bool `json:",omitempty"`
}

func (r InputsMoved) words() (text, remedy string) {
	where := "the base branch has changed"
	if r.Merged {
		where = "the merge commit differs"
	}
	if r.Late {
		where = "the base branch has changed since the merge"
	}
	if r.Generated {
		where += ", or a step on `generate` has written something else,"
	}
	why := ""
	if r.Whole {
		why = fmt.Sprintf(" A change of any file makes this plan out of date: %s lets programs run in the plan, and programs can read every file.", settings)
	}
	if r.Generated {
		why += generatesAnew
	}
	return fmt.Sprintf("The plan is out of date, because %s in these files: %s.%s", where, r.Files.Text(), why), planAgain(r.Merged)
}

// generatesAnew says what to do about a step that writes other files each time.
const generatesAnew = " If a step on `generate` writes other files each time, every plan is out of date: make its output depend on the checkout alone."

// SettingsBroken reports that the settings have errors, so that Lockstep cannot find the project in them. So it
// cannot check whether the plan is up to date. Problem has the errors, in Markdown. OfBase is set if the base
// branch itself has errors.
type SettingsBroken struct {
	Project, Problem string
	OfBase           bool `json:",omitempty"`
	Merged           bool `json:",omitempty"`
}

func (r SettingsBroken) words() (text, remedy string) {
	whose, where := "The settings on the base branch have errors", "on the base branch"
	if !r.OfBase {
		whose, where = "The settings have errors once they are merged into the base branch", "in the pull request or on the base branch"
	}
	text = fmt.Sprintf("%s, so Lockstep cannot find %s:\n\n  %s", whose, markdown.Code(r.Project), strings.ReplaceAll(strings.TrimSpace(r.Problem), "\n", "\n  "))
	if r.Merged {
		return text, fmt.Sprintf("Correct the errors on the base branch. Then comment %s for a new plan. Read it, then apply it.", markdown.Code("lockstep retry"))
	}
	return text, fmt.Sprintf("Correct the errors %s. Then comment %s again: the plan stays valid.", where, markdown.Code("lockstep apply"))
}

// ModulesMoved reports that the files of remote modules have changed since the plan was made.
type ModulesMoved struct {
	Modules Some
	Merged  bool
}

func (r ModulesMoved) words() (text, remedy string) {
	return fmt.Sprintf("The plan is out of date, because the sources of these modules have changed: %s. To avoid that, pin them to a tag, a commit or an exact version.", r.Modules.Text()), planAgain(r.Merged)
}

// OtherVersion reports that the plan was made by a different version of Lockstep.
type OtherVersion struct{ Merged bool }

func (r OtherVersion) words() (text, remedy string) {
	return "The plan was made by another version of Lockstep, so this version cannot apply it.", planAgain(r.Merged)
}

// A StateChange describes how the present state differs from the state that a plan was made from.
type StateChange string

const (
	StateCreated  StateChange = "created"
	StateGone     StateChange = "gone"
	StateReplaced StateChange = "replaced"  // another lineage
	SerialMoved   StateChange = "serial"    // another serial
	SameSerial    StateChange = "rewritten" // other bytes under the same serial
)

// StateMoved reports that the state has changed since the plan was made. Was and Is are the serials of the
// state at the plan and now. By and Number are the user and the pull request of the apply that has changed the
// state, if known.
type StateMoved struct {
	Change  StateChange
	Was, Is uint64
	By      string `json:",omitempty"`
	Number  int    `json:",omitempty"`
	Merged  bool
}

func (r StateMoved) words() (text, remedy string) {
	why := map[StateChange]string{
		StateCreated:  "the state was created",
		StateGone:     "the state was deleted",
		StateReplaced: "the state was replaced by another one",
		SerialMoved:   fmt.Sprintf("the state was written (serial %d, now %d)", r.Was, r.Is),
		SameSerial:    fmt.Sprintf("somebody has changed the state without raising its serial (%d)", r.Is),
	}[r.Change]
	by := ""
	if r.By != "" {
		by = fmt.Sprintf(" %s has applied #%d since the plan.", markdown.Code(r.By), r.Number)
	}
	return fmt.Sprintf("The plan is out of date: %s.%s", why, by), planAgain(r.Merged)
}

// OtherUnmerged reports that a different pull request, which is not merged, was applied to the same state. This
// plan could undo the changes of that pull request.
type OtherUnmerged struct {
	Number int
	Merged bool `json:",omitempty"`
	// Mutual is set if both pull requests wait for each other.
	Mutual bool `json:",omitempty"`
}

// MutualNote returns the advice if this pull request and the one with the given number wait for each other.
func MutualNote(number int) string {
	return fmt.Sprintf("#%[1]d waits for this pull request, too. Merge both, in any order. Then comment %[2]s on the one that you merged last, to apply what is missing. Or close #%[1]d: the next plan here then undoes what #%[1]d has applied.", number, markdown.Code("lockstep retry"))
}

func (r OtherUnmerged) words() (text, remedy string) {
	text = fmt.Sprintf("#%d was applied to the same state and is not merged yet, so this apply could undo its changes.", r.Number)
	if r.Mutual {
		return text, MutualNote(r.Number)
	}
	if r.Merged {
		return text, fmt.Sprintf("First merge #%d, or close it to give up its changes. Then comment %s here for a new plan. Read it, then apply it.", r.Number, markdown.Code("lockstep retry"))
	}
	return text, fmt.Sprintf("Merge #%d, or close it to give up its changes. Lockstep then plans this project again.", r.Number)
}
