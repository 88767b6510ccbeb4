package reasons

import (
	"fmt"
	"time"

	"github.com/lockstep-iac/lockstep/functions/comment/markdown"
)

// NothingToLock: the pull request touches no project at present.
type NothingToLock struct{}

func (NothingToLock) words() (text, remedy string) {
	return "This pull request touches no project whose state it could lock.", ""
}

// SetNotLocked: other projects of the same command cannot be locked.
type SetNotLocked struct{ Projects []string }

func (r SetNotLocked) words() (text, remedy string) {
	return fmt.Sprintf("%s cannot be locked, and the projects of a command are locked together, or none of them.", markdown.List(r.Projects)),
		fmt.Sprintf("To lock this one alone, comment %s.", markdown.Code("lockstep lock -p NAME --reason \"...\""))
}

// LockedByAnother: a person keeps the state for another pull request.
type LockedByAnother struct {
	Number      int // of the other pull request
	By, Because string
	Since       time.Time `json:",omitzero"`
	// Merged is set for an apply that a merge asks for: no comment repeats it.
	Merged bool `json:",omitempty"`
	// Waits is set if a merge has asked, and the apply waits for the end of the lock.
	Waits bool `json:",omitempty"`
	// Locking is set for a lock of the same state.
	Locking bool `json:",omitempty"`
}

func (r LockedByAnother) words() (text, remedy string) {
	switch {
	case r.Waits:
		return LockedFor(r), r.Lifts() + " " + appliedThen
	case r.Merged:
		return LockedFor(r), r.Lifts() + " " + planAgain(true)
	case r.Locking:
		return LockedFor(r), r.Lifts()
	}
	return LockedFor(r), r.Lifts() + " The plan can be applied then, if it still fits."
}

// Lifts is the remedy for the lock itself.
func (r LockedByAnother) Lifts() string {
	return fmt.Sprintf("%s on #%d lifts the lock, and so does its merge or its close.", markdown.Code("lockstep unlock"), r.Number)
}

// LockedFor is the note about a person's lock on a project's state.
func LockedFor(r LockedByAnother) string {
	return fmt.Sprintf("%s has locked the state for #%d%s: %s.", markdown.Code(r.By), r.Number, SinceWhen(r.Since), markdown.Code(r.Because))
}

// SinceWhen is ", since 2 January 2025, 15:04 UTC"; "" for a time that is not known.
func SinceWhen(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return ", since " + t.UTC().Format("2 January 2006, 15:04 MST")
}

// NotLifted: the settings let somebody lift no requirement for a plan. Nobody is set if there is none that anybody could lift, and
// Empty if the plan has no changes.
type NotLifted struct {
	Login  string
	Nobody bool `json:",omitempty"`
	Empty  bool `json:",omitempty"`
}

func (r NotLifted) words() (text, remedy string) {
	if r.Empty {
		return "The plan has no changes, and is not applied: there is no requirement to lift.", ""
	}
	if r.Nobody {
		return fmt.Sprintf("There is no requirement for this plan that anybody could lift: the base branch's %s has none with the argument %s.", settings, markdown.Code("override")),
			"What is missing, if anything, has to be fulfilled: the comment with the plans tells."
	}
	return fmt.Sprintf("There is no requirement for this plan that the base branch's %s lets %s lift.", settings, markdown.Code(r.Login)),
		fmt.Sprintf("Those whom the argument %s of the require block names can.", markdown.Code("override"))
}

// NotAsWritten: GitHub does not have the comment or review of a command any more, or has it with another text, author or time.
type NotAsWritten struct{}

func (NotAsWritten) words() (text, remedy string) {
	return "Nothing of this comment is done: somebody has edited or deleted it since, or it is not by the person who sent it.", "Write the command as a new comment."
}

// NotInConversation: an override was written in a review, or on a line of a file.
type NotInConversation struct{}

func (NotInConversation) words() (text, remedy string) {
	return "An override is a comment in the conversation of the pull request, which nobody has edited; in a review, or on a line of a file, it does not count.",
		"Write it as a comment of its own."
}

// VoidOverride: an override was written before people could see its plan; or it was edited or deleted since, if Edited is set.
type VoidOverride struct {
	Edited bool `json:",omitempty"`
}

func (r VoidOverride) words() (text, remedy string) {
	if r.Edited {
		return "The comment was edited, or deleted. Others may do that, too, so it is no override any more.", "Write the override as a new comment."
	}
	return "The plan was shown after this comment was written, or in the same second: whoever wrote it has not seen the plan.",
		"Look at the plan, and write the override again."
}

// NothingToRecover: no project of the pull request was ever planned.
type NothingToRecover struct{}

func (NothingToRecover) words() (text, remedy string) {
	return "This pull request has no project whose state could be recovered.", fmt.Sprintf("Comment %s first.", markdown.Code("lockstep plan -p NAME"))
}

// NothingToStop: no plan or apply is under way.
type NothingToStop struct{}

func (NothingToStop) words() (text, remedy string) {
	return "Nothing of this pull request is being planned or applied.", ""
}

// WasStopped: somebody stopped the plan or apply before it was done. Merged is set for an apply of a merge.
type WasStopped struct {
	By     string
	Merged bool `json:",omitempty"`
}

func (r WasStopped) words() (text, remedy string) {
	text = fmt.Sprintf("%s stopped it.", markdown.Code(r.By))
	if r.Merged {
		return text, planAgain(true)
	}
	return text, ""
}
